//! Fuzzing inside of a test: a target gets the inputs of a committed corpus, and then what becomes of them by chance.
//!
//! ```text
//!   corpus/<name>/*  ──▶  target(bytes) -> outcome     an input with an outcome that was not seen before joins the others
//!         ▲                     │
//!         └── mutated ◀─────────┘ panics: the input is made smaller and kept in corpus/<name>, where every later run begins
//! ```
//!
//! A target is a function of bytes, so that one of `cargo fuzz` is a line: `fuzz_target!(|data: &[u8]| { target(data); })`.
//! It says in a word what came of an input, which stands for the coverage that a compiled-in tracer would report.
//!
//! `ABIDE_FUZZ_SECONDS` goes on for that long; without it, each target has the same number of inputs on every machine.
//! `ABIDE_FUZZ_SEED` says by which chance.

mod mutate;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mutate::{Chance, mutate};

/// Inputs of each target where no time is given.
const INPUTS: usize = 2_000;
/// Longer inputs are cut: what is wrong shows in short ones, and quicker.
const LONGEST: usize = 4_096;
/// Inputs that are kept to be changed further.
const KEPT: usize = 2_000;
/// As much as a server's threads have.
const STACK_BYTES: usize = 2 << 20;

/// Gives a target its corpus, the files of other folders of the repository, and what becomes of them. Panics as the target
/// does, when the input is written down.
pub fn fuzz(name: &'static str, others: &'static [&'static str], target: fn(&[u8]) -> String) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = here.join("corpus").join(name);
    let others = others.iter().map(|folder| here.join("../..").join(folder)).collect();
    let run = move || Fuzz { folder, others, target, seen: BTreeSet::new(), kept: Vec::new() }.run();
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread");
    if let Err(panic) = thread.join() {
        resume_unwind(panic);
    }
}

/// A message without what it names, as an outcome: messages that differ in that only are one.
pub fn outcome(message: &impl ToString) -> String {
    let message = message.to_string();
    let outside = message.split(['`', '"']).step_by(2);
    outside.flat_map(|text| text.chars().filter(|letter| !letter.is_ascii_digit())).take(60).collect()
}

struct Fuzz {
    folder: PathBuf,
    others: Vec<PathBuf>,
    target: fn(&[u8]) -> String,
    /// Outcomes so far.
    seen: BTreeSet<String>,
    kept: Vec<Vec<u8>>,
}

impl Fuzz {
    fn run(mut self) {
        let folders = [&self.folder].into_iter().chain(&self.others);
        let mut files: Vec<PathBuf> = folders.flat_map(|folder| files_of(folder)).collect();
        files.sort();
        assert!(!files.is_empty(), "{} is empty", self.folder.display());
        for file in files {
            let mut input = fs::read(&file).expect("a file of the corpus");
            input.truncate(LONGEST);
            self.seen.insert((self.target)(&input));
            self.kept.push(input);
        }
        let mut chance = Chance::new(number("ABIDE_FUZZ_SEED").unwrap_or(1));
        let (mut left, until) = match number("ABIDE_FUZZ_SECONDS") {
            Some(seconds) => (usize::MAX, Some(Instant::now() + Duration::from_secs(seconds))),
            None => (INPUTS, None),
        };
        while left > 0 && until.is_none_or(|until| Instant::now() < until) {
            left -= 1;
            let mut input = mutate(&self.kept, &mut chance);
            input.truncate(LONGEST);
            self.give(input);
        }
    }

    fn give(&mut self, input: Vec<u8>) {
        let Ok(outcome) = catch_unwind(AssertUnwindSafe(|| (self.target)(&input))) else {
            let smallest = self.smaller(input);
            let file = self.folder.join(format!("found-{:016x}", hash(&smallest)));
            fs::write(&file, &smallest).expect("the corpus can be written to");
            // Once more, for the panic to be the last thing that is said.
            (self.target)(&smallest);
            unreachable!(
                "{} passes the second time: the target depends on more than its input",
                file.display()
            );
        };
        if self.kept.len() < KEPT && self.seen.insert(outcome) {
            self.kept.push(input);
        }
    }

    /// Leaves out what the panic does not need.
    fn smaller(&self, mut input: Vec<u8>) -> Vec<u8> {
        let panics = |input: &[u8]| catch_unwind(AssertUnwindSafe(|| (self.target)(input))).is_err();
        let mut length = input.len() / 2;
        while length > 0 {
            let mut start = 0;
            while start + length <= input.len() {
                let without = [&input[..start], &input[start + length..]].concat();
                if panics(&without) {
                    input = without;
                } else {
                    start += length;
                }
            }
            length /= 2;
        }
        input
    }
}

fn files_of(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("an entry of a folder").path()).filter(|path| path.is_file())
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// FNV-1a: a name for an input.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parser with a fault: whatever has an `x` behind a `{`.
    fn faulty(input: &[u8]) -> String {
        let opened = input.iter().position(|byte| *byte == b'{');
        assert!(!opened.is_some_and(|at| input[at..].contains(&b'x')), "an x where none should be");
        format!("{}", opened.is_some())
    }

    #[test]
    fn a_fault_is_found_and_what_does_not_belong_to_it_is_left_out() {
        let kept = vec![b"axbxcx".to_vec(), b"a {b} c".to_vec()];
        let folder = PathBuf::from("nowhere");
        let fuzz = Fuzz { folder, others: Vec::new(), target: faulty, seen: BTreeSet::new(), kept };
        let mut chance = Chance::new(1);
        let inputs = std::iter::repeat_with(|| mutate(&fuzz.kept, &mut chance)).take(10_000);
        let found = { inputs }.find(|input| catch_unwind(|| faulty(input)).is_err());
        assert_eq!(fuzz.smaller(found.expect("it is found")), b"{x");
    }
}
