//! Where families of figures are written one after the other.

use std::fmt;

use abide_engine::{Histogram, Timing};
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;

/// A page of figures.
pub(super) struct Page<'p, 'e>(pub(super) &'p mut DescriptorEncoder<'e>);

impl Page<'_, '_> {
    fn family(
        &mut self,
        name: &'static str,
        help: &str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'_>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, kind)
    }

    pub(super) fn gauge(
        &mut self,
        name: &'static str,
        help: &str,
        value: impl EncodeGaugeValue,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Gauge)?.encode_gauge(&value)
    }

    pub(super) fn gauges<V: AsRef<str>, G: EncodeGaugeValue, const N: usize>(
        &mut self,
        name: &'static str,
        help: &str,
        labels: [&'static str; N],
        values: impl IntoIterator<Item = ([V; N], G)>,
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Gauge)?;
        for (names, value) in values {
            family.encode_family(&labelled(labels, &names))?.encode_gauge(&value)?;
        }
        Ok(())
    }

    pub(super) fn counter(
        &mut self,
        name: &'static str,
        help: &str,
        value: impl EncodeCounterValue,
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Counter)?;
        family.encode_counter::<NoLabelSet, _, f64>(&value, None)
    }

    pub(super) fn counters<V: AsRef<str>, const N: usize>(
        &mut self,
        name: &'static str,
        help: &str,
        labels: [&'static str; N],
        values: impl IntoIterator<Item = ([V; N], u64)>,
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Counter)?;
        for (names, value) in values {
            let labels = labelled(labels, &names);
            family.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(&value, None)?;
        }
        Ok(())
    }

    /// A histogram of durations for each set of names.
    pub(super) fn timings<'t, V: AsRef<str>, const N: usize>(
        &mut self,
        name: &'static str,
        help: &str,
        labels: [&'static str; N],
        timings: impl IntoIterator<Item = ([V; N], &'t Timing)>,
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Histogram)?;
        for (names, timing) in timings {
            let buckets = buckets(timing.counts(), timing.bounds_ms(), 1e3);
            let labels = labelled(labels, &names);
            let sum = timing.sum_ms() as f64 / 1e3;
            family.encode_family(&labels)?.encode_histogram::<NoLabelSet>(
                sum,
                timing.count(),
                &buckets,
                None,
            )?;
        }
        Ok(())
    }

    /// A histogram of which a value divided by `unit` is what is shown.
    pub(super) fn histogram(
        &mut self,
        name: &'static str,
        help: &str,
        histogram: &Histogram,
        bounds: &[u64],
        unit: f64,
    ) -> fmt::Result {
        let counts = histogram.within(bounds);
        self.buckets(name, help, &counts, bounds, (unit, histogram.sum() as f64 / unit))
    }

    /// A histogram of which the values up to each bound were counted apart, and those above all bounds last.
    pub(super) fn buckets(
        &mut self,
        name: &'static str,
        help: &str,
        counts: &[u64],
        bounds: &[u64],
        (unit, sum): (f64, f64),
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Histogram)?;
        let buckets = buckets(counts, bounds, unit);
        family.encode_histogram::<NoLabelSet>(sum, counts.iter().sum(), &buckets, None)
    }
}

fn buckets(counts: &[u64], bounds: &[u64], unit: f64) -> Vec<(f64, u64)> {
    let bounds = bounds.iter().map(|bound| *bound as f64 / unit).chain([f64::INFINITY]);
    bounds.zip(counts.iter().copied()).collect()
}

fn labelled<'n, V: AsRef<str>, const N: usize>(
    labels: [&'static str; N],
    names: &'n [V; N],
) -> [(&'static str, &'n str); N] {
    std::array::from_fn(|at| (labels[at], names[at].as_ref()))
}
