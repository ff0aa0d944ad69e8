//! A histogram of milliseconds: fixed size, exact to an eighth, cheap to add to.

use serde::{Deserialize, Serialize};

/// Eight buckets for every power of two.
const PRECISION_BITS: u32 = 3;
const BUCKETS: usize = 64 << PRECISION_BITS;

/// A histogram of whole numbers, such as milliseconds: fixed size, exact to an eighth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: vec![0; BUCKETS], count: 0, sum: 0, max: 0 }
    }
}

impl Histogram {
    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        self.buckets[bucket(value)] += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        self.max = self.max.max(value);
    }

    /// How many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all values.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The largest value.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket += more;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// The values that were added since an earlier copy. The largest value is then as exact as the others.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let buckets: Vec<u64> =
            self.buckets.iter().zip(&earlier.buckets).map(|(now, then)| now.saturating_sub(*then)).collect();
        let max =
            buckets.iter().rposition(|count| *count > 0).map_or(0, |last| upper_bound(last).min(self.max));
        let (count, sum) = (self.count.saturating_sub(earlier.count), self.sum.saturating_sub(earlier.sum));
        Histogram { buckets, count, sum, max }
    }

    /// How many values there are up to each of these bounds and above the one before, and after them how many there are above
    /// all. A value may be counted as an eighth larger than it is.
    pub fn within(&self, bounds: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; bounds.len() + 1];
        for (index, count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            counts[bounds.partition_point(|bound| *bound < upper_bound(index).min(self.max))] += count;
        }
        counts
    }

    /// The smallest value that at least this share of all values does not exceed, up to an eighth too large.
    pub fn quantile(&self, cluster: f64) -> u64 {
        let wanted = (cluster * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if *count > 0 && seen >= wanted {
                return upper_bound(index).min(self.max);
            }
        }
        self.max
    }
}

fn bucket(value: u64) -> usize {
    let bits = 64 - value.leading_zeros();
    if bits <= PRECISION_BITS {
        return value as usize;
    }
    let shift = bits - 1 - PRECISION_BITS;
    let within = (value >> shift) as usize & ((1 << PRECISION_BITS) - 1);
    ((shift as usize + 1) << PRECISION_BITS) + within
}

fn upper_bound(bucket: usize) -> u64 {
    if bucket < 1 << PRECISION_BITS {
        return bucket as u64;
    }
    let shift = (bucket >> PRECISION_BITS) - 1;
    let within = (bucket & ((1 << PRECISION_BITS) - 1)) as u64;
    let lower = ((1 << PRECISION_BITS) + within) << shift;
    lower + (1 << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_into_a_bucket_that_ends_at_most_an_eighth_above_it() {
        for value in (0..5_000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX >> 1]) {
            let bound = upper_bound(bucket(value));
            assert!(bound >= value && bound <= value + value / 8, "{value} → {bound}");
        }
    }

    #[test]
    fn what_was_added_since_is_told_from_what_was_there() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|value| histogram.add(value));
        let earlier = histogram.clone();
        assert_eq!(histogram.since(&earlier).count(), 0);
        (0..10).for_each(|_| histogram.add(7));
        let added = histogram.since(&earlier);
        assert_eq!((added.count(), added.quantile(0.5), added.max()), (10, 7, 7));
    }

    #[test]
    fn every_value_is_within_one_bound_or_above_all() {
        let mut histogram = Histogram::default();
        [0, 1, 2, 5, 7, 100, 5_000].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(histogram.within(&[1, 5, 1_000]), [2, 2, 2, 1]);
        assert_eq!((histogram.sum(), histogram.count()), (5_115, 7));
    }

    #[test]
    fn quantiles_are_those_of_the_values() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|value| histogram.add(value));
        assert!((500..=563).contains(&histogram.quantile(0.5)));
        assert!((990..=1000).contains(&histogram.quantile(0.99)));
        assert_eq!(histogram.quantile(1.0), 1000);
        assert_eq!(Histogram::default().quantile(0.5), 0);
    }

    #[test]
    fn two_histograms_are_merged_into_what_both_would_be() {
        let [mut one, mut other, mut both] = [(); 3].map(|()| Histogram::default());
        for (value, first) in [(3, true), (1_000, false), (70, false), (5, true)] {
            if first { &mut one } else { &mut other }.add(value);
            both.add(value);
        }
        one.merge(&other);
        assert_eq!((one.count(), one.max()), (both.count(), both.max()));
        assert_eq!(
            [0.0, 0.5, 1.0].map(|cluster| one.quantile(cluster)),
            [0.0, 0.5, 1.0].map(|cluster| both.quantile(cluster))
        );
    }
}
