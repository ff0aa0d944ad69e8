//! What a workload found: parts of figures, each with a key for programs and a name for people.

use abide_engine::{Histogram, Stats};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::format::Unit;

#[derive(Debug)]
pub(super) struct Report {
    workload: &'static str,
    parts: Vec<Part>,
}

/// Figures that belong together.
#[derive(Debug)]
pub(super) struct Part {
    key: String,
    title: String,
    figures: Vec<Figure>,
}

#[derive(Debug)]
struct Figure {
    key: String,
    name: String,
    value: f64,
    unit: Unit,
}

/// The usual quantiles of lengths of time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Quantiles {
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) max_ms: f64,
}

/// What an engine says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine {
    pub(super) commits: f64,
    /// Half of all commits had no more.
    pub(super) requests_per_commit: f64,
    pub(super) commit: Quantiles,
}

impl From<&Stats> for Engine {
    fn from(stats: &Stats) -> Engine {
        Engine {
            commits: stats.commits as f64,
            requests_per_commit: stats.batch.quantile(0.5) as f64,
            commit: Quantiles::of(&stats.commit_us),
        }
    }
}

impl Quantiles {
    pub(super) fn of(microseconds: &Histogram) -> Quantiles {
        let ms = |share: f64| microseconds.quantile(share) as f64 / 1000.0;
        Quantiles { p50_ms: ms(0.5), p99_ms: ms(0.99), max_ms: ms(1.0) }
    }
}

impl Report {
    pub(super) fn new(workload: &'static str, parts: impl IntoIterator<Item = Part>) -> Report {
        Report { workload, parts: parts.into_iter().collect() }
    }

    pub(super) fn to_json(&self) -> Value {
        let parts: Map<String, Value> =
            self.parts.iter().map(|part| (part.key.clone(), Value::Object(part.to_json()))).collect();
        let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
        json!({ "workload": self.workload, "cores": cores, "parts": parts })
    }

    /// Parts with the same figures stand side by side, the others one below the other.
    pub(super) fn to_text(&self) -> String {
        let blocks = self.parts.chunk_by(|one, other| one.names().eq(other.names()));
        blocks.map(block).collect::<Vec<_>>().join("\n")
    }
}

impl Part {
    pub(super) fn new(key: impl Into<String>, title: impl Into<String>) -> Part {
        Part { key: key.into(), title: title.into(), figures: Vec::new() }
    }

    pub(super) fn put(&mut self, key: impl Into<String>, name: impl Into<String>, unit: Unit, value: f64) {
        self.figures.push(Figure { key: key.into(), name: name.into(), value, unit });
    }

    pub(super) fn count(&mut self, key: &str, name: &str, value: usize) {
        self.put(key, name, Unit::Count, value as f64);
    }

    pub(super) fn quantiles(&mut self, key: &str, name: &str, of: Quantiles) {
        for (suffix, short, value) in
            [("P50Ms", "p50", of.p50_ms), ("P99Ms", "p99", of.p99_ms), ("MaxMs", "max", of.max_ms)]
        {
            self.put(format!("{key}{suffix}"), format!("{name}, {short}"), Unit::Milliseconds, value);
        }
    }

    pub(super) fn engine(engine: impl Into<Engine>) -> Part {
        let Engine { commits, requests_per_commit, commit } = engine.into();
        let mut part = Part::new("engine", "the engine");
        part.put("commits", "commits", Unit::Count, commits);
        part.put("requestsPerCommitP50", "requests per commit, p50", Unit::Count, requests_per_commit);
        part.quantiles("commit", "commit", commit);
        part
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.figures.iter().map(|figure| figure.name.as_str())
    }

    fn to_json(&self) -> Map<String, Value> {
        self.figures.iter().map(|figure| (figure.key.clone(), figure.to_json())).collect()
    }
}

impl Figure {
    /// Whole numbers as such; nobody measures more than a thousandth of the others.
    fn to_json(&self) -> Value {
        const THOUSANDTH: f64 = 1000.0;
        if self.value.fract() == 0.0 {
            json!(self.value as i64)
        } else {
            json!((self.value * THOUSANDTH).round() / THOUSANDTH)
        }
    }
}

/// A column of names and a column for each part.
fn block(parts: &[Part]) -> String {
    let Some(first) = parts.first() else { return String::new() };
    let mut columns = vec![];
    let heading = if parts.len() == 1 { first.title.clone() } else { String::new() };
    columns.push(Column::left(heading, first.names()));
    for part in parts {
        let heading = if parts.len() == 1 { String::new() } else { part.title.clone() };
        columns
            .push(Column::right(heading, part.figures.iter().map(|figure| figure.unit.show(figure.value))));
    }
    let mut text = String::new();
    for row in 0..=first.figures.len() {
        let cells: Vec<String> = columns.iter().map(|column| column.cell(row)).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

struct Column {
    cells: Vec<String>,
    width: usize,
    to_the_right: bool,
}

impl Column {
    fn left<'a>(heading: String, names: impl Iterator<Item = &'a str>) -> Column {
        // The figures stand below their heading, a little to the right.
        Column::new(heading, names.map(|name| format!("  {name}")), false)
    }

    fn right(heading: String, values: impl Iterator<Item = String>) -> Column {
        Column::new(heading, values, true)
    }

    fn new(heading: String, rest: impl Iterator<Item = String>, to_the_right: bool) -> Column {
        let cells: Vec<String> = std::iter::once(heading).chain(rest).collect();
        let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        Column { cells, width, to_the_right }
    }

    fn cell(&self, row: usize) -> String {
        let (cell, width) = (&self.cells[row], self.width);
        if self.to_the_right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(key: &str, title: &str, rate: f64) -> Part {
        let mut part = Part::new(key, title);
        part.put("runsPerSecond", "runs", Unit::PerSecond, rate);
        part.put("cpuUsPerRun", "CPU per run", Unit::Microseconds, 81.23456);
        part
    }

    #[test]
    fn a_part_is_a_heading_with_its_figures_aligned() {
        let mut engine = Part::new("engine", "the engine");
        engine.count("commits", "commits", 1_234);
        let text = Report::new("w1", [part("runs", "20,000 runs", 8123.4), engine]).to_text();
        assert_eq!(
            text,
            "20,000 runs\n  runs         8,123 /s\n  CPU per run   81.2 µs\n\nthe engine\n  commits   1,234\n"
        );
    }

    #[test]
    fn parts_of_the_same_figures_stand_side_by_side() {
        let parts = [part("1000", "1,000 stored", 8000.0), part("10000", "10,000 stored", 7900.0)];
        assert_eq!(
            Report::new("flat", parts).to_text(),
            "               1,000 stored  10,000 stored\n  runs             8,000 /s       7,900 /s\n  CPU per run       81.2 µs        81.2 µs\n"
        );
    }

    #[test]
    fn programs_get_plain_numbers_under_stable_keys() {
        let json = Report::new("w1", [part("runs", "20,000 runs", 8123.0)]).to_json();
        assert_eq!(json["workload"], "w1");
        assert_eq!(json["parts"]["runs"], json!({ "runsPerSecond": 8123, "cpuUsPerRun": 81.235 }));
    }

    #[test]
    fn quantiles_of_microseconds_are_told_in_milliseconds() {
        let mut histogram = Histogram::default();
        histogram.add(1_500);
        let mut part = Part::new("p", "p");
        part.quantiles("late", "late", Quantiles::of(&histogram));
        assert_eq!(
            part.to_json(),
            *json!({ "lateP50Ms": 1.5, "lateP99Ms": 1.5, "lateMaxMs": 1.5 }).as_object().unwrap()
        );
    }
}
