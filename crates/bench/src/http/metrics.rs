//! What the server says of itself at `/metrics`.

use std::collections::HashMap;

use anyhow::Context;

use crate::report::{Engine, Part, Quantiles};

pub(super) struct Metrics(HashMap<String, f64>);

impl Metrics {
    pub(super) fn read(page: &str) -> Metrics {
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        let pairs = lines.filter_map(|line| line.rsplit_once(' '));
        Metrics(pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect())
    }

    /// The sum of a family's series that have a label with this value.
    pub(super) fn sum(&self, name: &str, label: &str, value: &str) -> anyhow::Result<f64> {
        let (family, label) = (format!("{name}{{"), format!("{label}=\"{value}\""));
        let series = self.0.iter().filter(|(key, _)| key.starts_with(&family) && key.contains(&label));
        let sum = series.map(|(_, count)| *count).reduce(|sum, count| sum + count);
        sum.with_context(|| format!("the server does not count {name} by {label}"))
    }

    /// A number by its name, with its labels.
    pub(super) fn get(&self, name: &str) -> anyhow::Result<f64> {
        self.0.get(name).copied().with_context(|| format!("the server does not count {name}"))
    }

    /// The bound that a share of the values of a histogram does not exceed.
    fn quantile(&self, name: &str, share: f64) -> anyhow::Result<f64> {
        let prefix = format!("{name}_bucket{{le=\"");
        let bound = |key: &str| key.strip_prefix(&prefix)?.strip_suffix("\"}")?.parse::<f64>().ok();
        let mut buckets: Vec<(f64, f64)> =
            self.0.iter().filter_map(|(key, count)| Some((bound(key)?, *count))).collect();
        buckets.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let wanted = share * self.get(&format!("{name}_count"))?;
        let largest =
            buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite()).fold(0.0, f64::max);
        let found = buckets.into_iter().find(|(_, count)| *count >= wanted).map(|(bound, _)| bound);
        found.map(|bound| bound.min(largest)).with_context(|| format!("the server does not count {name}"))
    }

    pub(super) fn engine(&self) -> anyhow::Result<Part> {
        let commit_ms = |share| Ok::<_, anyhow::Error>(self.quantile("abide_commit_seconds", share)? * 1e3);
        Ok(Part::engine(Engine {
            commits: self.get("abide_commits_total")?,
            requests_per_commit: self.quantile("abide_commit_batch", 0.5)?,
            commit: Quantiles { p50_ms: commit_ms(0.5)?, p99_ms: commit_ms(0.99)?, max_ms: commit_ms(1.0)? },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_names_and_labels() {
        let metrics = Metrics::read("# HELP a b\na 1\na{b=\"c d\"} 0.25\n");
        assert_eq!((metrics.get("a").unwrap(), metrics.get("a{b=\"c d\"}").unwrap()), (1.0, 0.25));
        assert_eq!(metrics.get("b").unwrap_err().to_string(), "the server does not count b");
    }

    #[test]
    fn series_of_a_family_are_added_up_by_a_label() {
        let metrics = Metrics::read("a{b=\"c\",d=\"e\"} 1\na{b=\"f\",d=\"e\"} 2\na{b=\"c\",d=\"g\"} 4\n");
        assert_eq!(metrics.sum("a", "d", "e").unwrap(), 3.0);
        assert!(metrics.sum("a", "d", "h").is_err());
    }

    #[test]
    fn a_quantile_is_the_bound_of_the_bucket_that_it_falls_into() {
        let page = "t_count 10\nt_bucket{le=\"0.1\"} 5\nt_bucket{le=\"1.0\"} 9\nt_bucket{le=\"+Inf\"} 10\n";
        let metrics = Metrics::read(page);
        let quantile = |share| metrics.quantile("t", share).unwrap();
        assert_eq!((quantile(0.5), quantile(0.9), quantile(1.0)), (0.1, 1.0, 1.0));
    }
}
