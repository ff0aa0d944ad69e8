//! Long runs of kills in portions that add up: a file has a line for each that was begun and one for each that was verified to
//! its end, so that none that failed is left out of the sum.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sleepers::Outcome;

const BEGUN: &str = "begun";
const VERIFIED: &str = "verified";
const FIRST_SEED: u64 = 7;

pub(crate) struct Tally(Option<PathBuf>);

/// What all portions come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    begun: u64,
    verified: u64,
    kills: u64,
    seconds: u64,
    outcome: Outcome,
}

impl Tally {
    /// In the file that `ABIDE_KILL_TALLY` names, or nowhere.
    pub(crate) fn of_environment() -> Tally {
        Tally(std::env::var_os("ABIDE_KILL_TALLY").map(PathBuf::from))
    }

    fn lines(&self) -> Vec<Value> {
        let text = self.0.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn add(&self, line: &Value) {
        let Some(file) = &self.0 else { return };
        let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// Begins a portion, and gives its seed.
    pub(crate) fn begin(&self) -> u64 {
        let seed = FIRST_SEED + self.sum().begun;
        self.add(&json!({ BEGUN: seed }));
        seed
    }

    /// A portion is at its end, and nothing was found in it.
    pub(crate) fn end(&self, kills: usize, seconds: u64, outcome: &Outcome) -> Sum {
        self.add(&json!({ VERIFIED: { "kills": kills, "seconds": seconds, "outcome": outcome.figures() } }));
        self.sum()
    }

    fn sum(&self) -> Sum {
        self.lines().iter().fold(Sum::default(), |mut sum, line| {
            sum.begun += u64::from(!line[BEGUN].is_null());
            if let Some(verified) = line.get(VERIFIED) {
                let figure = |name: &str| verified[name].as_u64().unwrap();
                sum.verified += 1;
                sum.kills += figure("kills");
                sum.seconds += figure("seconds");
                sum.outcome.add(&verified["outcome"]);
            }
            sum
        })
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sum { begun, verified, kills, seconds, outcome } = self;
        write!(f, "{verified} of {begun} portions verified: {kills} kills in {seconds} s; {outcome}")
    }
}

#[test]
fn portions_add_up_and_one_that_failed_is_not_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let tally = Tally(Some(folder.path().join("tally")));
    let portion = Outcome::default();
    let seeds = [tally.begin(), tally.begin(), tally.begin()];
    assert_eq!(seeds, [7, 8, 9], "each has a seed of its own");
    tally.end(10, 3, &portion);
    let sum = tally.end(20, 4, &portion);
    assert_eq!(sum, Sum { begun: 3, verified: 2, kills: 30, seconds: 7, outcome: Outcome::default() });
}
