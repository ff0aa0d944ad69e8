//! What `/metrics` says, as far as figures are made of it.

use std::collections::BTreeMap;

/// One series: its name, its labels, its value.
#[derive(Clone, Debug, PartialEq)]
struct Series {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

/// The figures of a server at one instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Metrics(Vec<Series>);

impl Metrics {
    /// Lines that are not understood are left out: a newer server may have more than we know.
    pub(super) fn parse(text: &str) -> Metrics {
        Metrics(text.lines().filter(|line| !line.starts_with('#')).filter_map(series).collect())
    }

    /// The sum of all series of a name; nothing where there is none.
    pub(super) fn sum(&self, name: &str) -> Option<f64> {
        let mut values = self.of(name).map(|series| series.value).peekable();
        values.peek()?;
        Some(values.sum())
    }

    /// The value of a label of the first series of a name.
    pub(super) fn label(&self, name: &str, label: &str) -> Option<String> {
        self.of(name).find_map(|series| series.label(label)).map(str::to_owned)
    }

    /// Sums by the values of two labels.
    pub(super) fn by(&self, name: &str, labels: [&str; 2]) -> BTreeMap<[String; 2], f64> {
        let mut sums = BTreeMap::new();
        for series in self.of(name) {
            let key = labels.map(|label| series.label(label).unwrap_or_default().to_owned());
            *sums.entry(key).or_default() += series.value;
        }
        sums
    }

    /// The buckets of a histogram, those of all labels together: upper bounds, and how many were at or under each.
    pub(super) fn buckets(&self, name: &str) -> Vec<(f64, f64)> {
        let mut buckets: Vec<(f64, f64)> = Vec::new();
        for series in self.of(&format!("{name}_bucket")) {
            let Some(bound) = series.label("le").and_then(|le| le.parse::<f64>().ok()) else { continue };
            match buckets.iter_mut().find(|(known, _)| *known == bound) {
                Some((_, count)) => *count += series.value,
                None => buckets.push((bound, series.value)),
            }
        }
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        buckets
    }

    fn of(&self, name: &str) -> impl Iterator<Item = &Series> {
        self.0.iter().filter(move |series| series.name == name)
    }
}

impl Series {
    fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn series(line: &str) -> Option<Series> {
    let end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Series { name: name.to_owned(), labels, value })
}

/// `a="b",c="d"} 7`: the labels, and what follows them.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next()? {
                (end, '"') => break end,
                (_, '\\') => match letters.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (_, other) => value.push(other),
            }
        };
        labels.push((name.trim_start_matches(',').to_owned(), value));
        rest = after[end + 1..].trim_start_matches(',');
    }
}

/// Under which value this share of what came between two readings of a histogram is. Nothing where nothing came; what is
/// over the last bound is said to be at it.
pub(super) fn quantile(before: &[(f64, f64)], now: &[(f64, f64)], share: f64) -> Option<f64> {
    let earlier =
        |bound: f64| before.iter().find(|(known, _)| *known == bound).map_or(0.0, |(_, count)| *count);
    // A process that was started again counts from 0.
    let is_anew = now.iter().any(|(bound, count)| *count < earlier(*bound));
    let came = |bound: f64, count: f64| if is_anew { count } else { count - earlier(bound) };
    let (last, all) = now.last().map(|(bound, count)| (*bound, came(*bound, *count)))?;
    if all <= 0.0 {
        return None;
    }
    let rank = share * all;
    let (mut lower, mut under) = (0.0, 0.0);
    for (bound, count) in now {
        let count = came(*bound, *count);
        if count >= rank {
            let within = if count > under { (rank - under) / (count - under) } else { 1.0 };
            return Some(if bound.is_finite() { lower + (bound - lower) * within } else { lower });
        }
        (lower, under) = (*bound, count);
    }
    Some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# HELP abide_runs Runs.\n# TYPE abide_runs gauge\n\
        abide_runs{workspace=\"a \\\"b\\\"\",status=\"RUNNING\"} 3\nabide_runs{workspace=\"c\",status=\"RUNNING\"} 4\n\
        abide_commits_total 12\nnonsense\nabide_x{le=\"broken} 1\n\
        abide_commit_seconds_bucket{le=\"0.001\"} 0\nabide_commit_seconds_bucket{le=\"0.01\"} 98\n\
        abide_commit_seconds_bucket{le=\"0.1\"} 100\nabide_commit_seconds_bucket{le=\"+Inf\"} 100\n";

    #[test]
    fn series_are_read_with_their_labels_and_lines_that_are_none_are_left_out() {
        let metrics = Metrics::parse(TEXT);
        assert_eq!(metrics.sum("abide_runs"), Some(7.0));
        assert_eq!(metrics.sum("abide_commits_total"), Some(12.0));
        assert_eq!(metrics.sum("abide_x"), None);
        let by = metrics.by("abide_runs", ["workspace", "status"]);
        assert_eq!(by.get(&["a \"b\"".to_owned(), "RUNNING".to_owned()]), Some(&3.0));
    }

    #[test]
    fn a_quantile_is_of_what_came_since_the_reading_before() {
        let buckets = Metrics::parse(TEXT).buckets("abide_commit_seconds");
        let half = quantile(&[], &buckets, 0.5).unwrap();
        assert!(half > 0.001 && half < 0.01, "{half}");
        let most = quantile(&[], &buckets, 0.99).unwrap();
        assert!(most > 0.01 && most <= 0.1, "{most}");
        assert_eq!(quantile(&buckets, &buckets, 0.5), None, "nothing came");
        let over = [(0.1, 0.0), (f64::INFINITY, 5.0)];
        assert_eq!(quantile(&[], &over, 0.5), Some(0.1), "over the last bound");
    }

    #[test]
    fn a_process_that_was_started_again_counts_from_nothing() {
        let before = [(0.1, 500.0), (f64::INFINITY, 500.0)];
        let now = [(0.1, 2.0), (f64::INFINITY, 2.0)];
        assert!(quantile(&before, &now, 0.5).is_some());
    }
}
