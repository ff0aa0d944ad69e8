//! The source speaks the words of `docs/reference/glossary.md`: no name of a dialect that a newcomer would have to learn, and no
//! doc comment that needs the line above it, for hover shows it alone.

use super::tree::{Source, sources};

/// Names that were once used here, each with the word that the field has for it.
const DIALECT: &[(&str, &str)] = &[
    ("Aftermath", "after-commit actions"),
    ("aftermath", "after-commit actions"),
    ("Asked", "a request"),
    ("At", "StepAddress"),
    ("bars", "not taken"),
    ("barred", "not taken"),
    ("Beating", "a heartbeat thread"),
    ("Crier", "a notifier"),
    ("decide_once", "decide with a key"),
    ("Detours", "exits"),
    ("door", "idempotency, or entry"),
    ("Doubts", "missing parts, or warnings"),
    ("Ear", "a reply listener"),
    ("Errand", "an after-commit action"),
    ("errand", "an after-commit action"),
    ("GiveBack", "release"),
    ("give_back", "release"),
    ("hand_over", "reassign"),
    ("handed_over", "reassigned"),
    ("Lend", "accept"),
    ("let_go", "release"),
    ("let_out", "publish"),
    ("Looks", "a log of snapshots"),
    ("News", "cluster notifications"),
    ("Notice", "a webhook message"),
    ("nudge", "remind"),
    ("Occurrence", "an event"),
    ("OccurrenceId", "an event's uid"),
    ("on_top_of", "depends on"),
    ("Portion", "a shard"),
    ("Pulse", "a heartbeat, or activity"),
    ("Remembered", "an idempotency record"),
    ("Sharing", "cluster membership"),
    ("StaleDelivery", "a stale lease"),
    ("Standing", "the status of the clock"),
    ("Touched", "a run delta"),
    ("take_up", "adopt"),
    ("WorkflowHeld", "paused by an operator"),
];

/// Openings of a doc comment that say something only beside the line above it.
const LEANING: &[&str] = &[
    "And ",
    "As above",
    "How it ",
    "How often it ",
    "How often one ",
    "It ",
    "Its ",
    "Likewise",
    "Of it ",
    "Of them ",
    "Of those ",
    "Of those,",
    "Or ",
    "So many ",
    "Their ",
    "They ",
    "The same,",
    "The same.",
    "The same as ",
    "The same by ",
    "The same for ",
    "The same in ",
    "The same of ",
    "The same to ",
    "This one ",
    "Those of them ",
    "Those of this ",
    "Whether any is",
    "Whether it ",
];

/// The crates whose public items all have a doc comment, and whose comments are held to [`LEANING_MORE`], too.
const DOCUMENTED: &[&str] = &["crates/core/", "crates/engine/"];

/// Further openings that lean on the item above, or on the name below: they say of what, and not what.
const LEANING_MORE: &[&str] = &[
    "All of ",
    "As if ",
    "By the ",
    "Fewer ",
    "How far it ",
    "Of a ",
    "Of an ",
    "Of the ",
    "Of what ",
    "Others ",
    "That one",
    "The last ones",
    "The others",
    "The pending ones",
    "Those ",
    "What it ",
    "When it ",
    "Whose ",
];

#[test]
fn no_name_is_of_a_dialect() {
    let mut found = Vec::new();
    for source in sources() {
        for (line, code) in source.code() {
            for name in code.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
                if let Some((_, word)) = DIALECT.iter().find(|(dialect, _)| *dialect == name) {
                    let path = &source.path;
                    found.push(format!(
                        "{path}:{line}: `{name}` is a word of ours alone; the field says {word}"
                    ));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_doc_comment_stands_alone() {
    let mut found = Vec::new();
    for source in sources() {
        for (line, text) in source.first_lines_of_docs() {
            let is_documented = DOCUMENTED.iter().any(|folder| source.path.starts_with(folder));
            let more = if is_documented { LEANING_MORE } else { &[] };
            if LEANING.iter().chain(more).any(|opening| text.starts_with(opening)) {
                let path = &source.path;
                found.push(format!(
                    "{path}:{line}: \"{text}\" needs the line above it: say what is true of what"
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_forms_are_found_where_they_stand() {
    let source = Source {
        path: "a.rs".to_owned(),
        text: "/// The same, of one.\nstruct Ear; // door\nlet a = \"door\"; // a door\n".to_owned(),
    };
    let code: Vec<(usize, String)> = source.code().collect();
    assert_eq!(code[1], (2, "struct Ear; ".to_owned()));
    assert!(!code[2].1.contains("door"));
    let docs: Vec<(usize, &str)> = source.first_lines_of_docs().collect();
    assert_eq!(docs, [(1, "The same, of one.")]);
}
