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

    /// A number by its name, with its labels.
    pub(super) fn get(&self, name: &str) -> anyhow::Result<f64> {
        self.0.get(name).copied().with_context(|| format!("the server does not count {name}"))
    }

    pub(super) fn engine(&self) -> anyhow::Result<Part> {
        let commit_ms = |share: &str| {
            Ok::<_, anyhow::Error>(self.get(&format!("abide_commit_seconds{{quantile=\"{share}\"}}"))? * 1e3)
        };
        Ok(Part::engine(Engine {
            commits: self.get("abide_commits_total")?,
            requests_per_commit: self.get("abide_commit_batch{quantile=\"0.5\"}")?,
            commit: Quantiles {
                p50_ms: commit_ms("0.5")?,
                p99_ms: commit_ms("0.99")?,
                max_ms: commit_ms("1")?,
            },
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
}
