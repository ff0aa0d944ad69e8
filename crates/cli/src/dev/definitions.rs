//! Definition files: which there are, what they hold, and how they are stored when they change. A file with problems is
//! told with all of them, and what it held before stays in use.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use abide_core::id::WorkspaceId;
use abide_definition::document::Workflow;
use abide_engine::{Developed, Engine, Versions};

use super::difference;
use super::say::{Line, Mark, line};
use super::watch::Change;
use crate::check::{Outcome, check_text, read_file};

/// What a file held when it was good.
struct Known {
    version: String,
    document: Workflow,
}

pub(super) struct Definitions {
    engine: Engine,
    /// Files that were named: they are workflows whatever they look like.
    named: BTreeSet<PathBuf>,
    known: BTreeMap<PathBuf, Known>,
}

impl std::fmt::Debug for Definitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Definitions").field("files", &self.known.keys()).finish_non_exhaustive()
    }
}

impl Definitions {
    pub(super) fn new(engine: Engine, places: &[PathBuf]) -> Definitions {
        let named = places.iter().filter(|place| !place.is_dir()).cloned().collect();
        Definitions { engine, named, known: BTreeMap::new() }
    }

    /// How many files hold a workflow.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Takes up what has become of a file, and tells it.
    pub(super) async fn take(&mut self, change: &Change) -> Vec<Line> {
        match change {
            Change::Gone(path) => self.forget(path),
            Change::Settled(path) => self.read(path).await,
        }
    }

    fn forget(&mut self, path: &Path) -> Vec<Line> {
        let Some(known) = self.known.remove(path) else { return Vec::new() };
        let (name, version) = (&known.document.name, &known.version);
        let text = format!("{}: gone; {name} {version} stays stored", path.display());
        vec![line(Mark::Again, text)]
    }

    async fn read(&mut self, path: &Path) -> Vec<Line> {
        let file = path.display().to_string();
        let counts = self.named.contains(path) || self.known.contains_key(path);
        let text = match read_file(path) {
            Ok(text) if counts || looks_like_a_workflow(path, &text) => text,
            Ok(_) => return Vec::new(),
            // Another look will say that it is gone.
            Err(why) if !counts || why.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(why) => return vec![line(Mark::Bad, format!("{file}: cannot be read: {why}"))],
        };
        let outcome = check_text(file, text, self.engine.max_wait());
        match &outcome.result {
            Ok(Err(rejected)) => {
                let count = rejected.problems.len();
                let problems = if count == 1 { "1 problem".to_owned() } else { format!("{count} problems") };
                self.broken(path, &outcome, &problems)
            }
            Ok(Ok(_)) | Err(_) => self.store(path, outcome).await,
        }
    }

    fn broken(&self, path: &Path, outcome: &Outcome, problems: &str) -> Vec<Line> {
        let stays = match self.known.get(path) {
            Some(known) => format!("{} {} stays in use", known.document.name, known.version),
            None => "nothing of it is stored".to_owned(),
        };
        let mut lines = vec![line(Mark::Bad, format!("{}: {problems}; {stays}", outcome.file))];
        lines.extend(findings(outcome));
        lines
    }

    async fn store(&mut self, path: &Path, outcome: Outcome) -> Vec<Line> {
        let mut warnings = findings(&outcome);
        let Outcome { file, result, .. } = outcome;
        let Ok(Ok(checked)) = result else { return Vec::new() };
        for warning in self.engine.calls().warnings(WorkspaceId::DEFAULT, &checked.definition) {
            warnings
                .push(line(Mark::More, format!("{file}: warning {}: {}", warning.pointer, warning.message)));
        }
        let document = checked.definition.document.clone();
        let stored = self
            .engine
            .default_workspace()
            .definitions()
            .deploy_for_development(checked, Versions::Made)
            .await;
        let Developed { version, created, .. } = match stored {
            Ok(stored) => stored,
            Err(why) => return vec![line(Mark::Bad, format!("{file}: {why}"))],
        };
        let name = document.name.clone();
        let mut lines = Vec::new();
        if let Some((other, _)) =
            self.known.iter().find(|(other, known)| **other != *path && known.document.name == name)
        {
            let text = format!(
                "{file}: {} has a workflow `{name}`, too; what is stored last is used",
                other.display()
            );
            lines.push(line(Mark::Again, text));
        }
        let before = self
            .known
            .insert(path.to_owned(), Known { version: version.clone(), document: document.clone() });
        let news = match &before {
            Some(before) if before.document.name != name => {
                format!("stored; the file held {} before", before.document.name)
            }
            Some(before) => match difference::between(&before.document, &document) {
                Some(changed) => changed,
                None => "nothing has changed".to_owned(),
            },
            None if created => match document.steps.len() {
                1 => "stored: 1 step".to_owned(),
                count => format!("stored: {count} steps"),
            },
            None => "as it is stored".to_owned(),
        };
        lines.push(line(Mark::Good, format!("{file}: {name} {version}  {news}")));
        lines.extend(warnings);
        lines
    }
}

fn findings(outcome: &Outcome) -> Vec<Line> {
    let found = outcome.findings().unwrap_or_default();
    found.lines().map(|found| line(Mark::More, found)).collect()
}

/// Whether a file in a directory is meant to be a workflow: among its outermost fields is `steps`. One that cannot be read
/// as JSON or YAML at all is judged by its text.
fn looks_like_a_workflow(path: &Path, text: &str) -> bool {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    if is_json || text.trim_start().starts_with('{') {
        return match serde_json::from_str::<serde_json::Value>(text) {
            Ok(document) => document.get("steps").is_some(),
            Err(_) => text.contains("\"steps\"") || (!is_json && text.contains("steps:")),
        };
    }
    text.lines().any(|line| {
        let field = line.trim_start_matches(['"', '\'']);
        let rest = field.strip_prefix("steps").map(|rest| rest.trim_start_matches(['"', '\'']));
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_steps_among_their_outermost_fields_look_like_workflows() {
        let looks = |path: &str, text: &str| looks_like_a_workflow(Path::new(path), text);
        for (path, text) in [
            ("a.yaml", "name: a\nsteps:\n  - type: wait\n"),
            ("a.yml", "\"steps\" : []\n"),
            ("a.yaml", "{name: a, steps: []}"),
            ("a.json", "{\"name\": \"a\", \"steps\": []}"),
            ("a.json", "{\"name\": \"a\", \"steps\": [}"),
        ] {
            assert!(looks(path, text), "{text}");
        }
        for (path, text) in [
            ("package.json", "{\"name\": \"a\", \"scripts\": {\"steps\": \"x\"}}"),
            ("compose.yaml", "services:\n  a:\n    steps: 1\n"),
            ("a.yaml", "stepsize: 3\n"),
            ("tsconfig.json", "// a comment\n{\"strict\": true}"),
            ("empty.yaml", ""),
        ] {
            assert!(!looks(path, text), "{text}");
        }
    }
}
