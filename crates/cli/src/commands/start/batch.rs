//! `abide start --batch`: a run for every line of a file.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use abide_sdk::wire::{StartOutcome, StartedRuns};
use serde_json::{Map, Value, json};

use crate::client::{Client, Error, Exit};
use crate::console::Console;

/// What one request carries: less than the server takes.
const LINES: usize = 1_000;
const BYTES: usize = 4 * 1024 * 1024;

/// What every line has that does not say otherwise.
pub(super) struct Defaults {
    pub(super) fields: Map<String, Value>,
    /// Line `n` has the key `{key}/{n}`, unless it has its own.
    pub(super) key: Option<String>,
}

/// Lines that go into one request.
#[derive(Default)]
struct Request {
    runs: Vec<Value>,
    /// The number of the line of each run, from 1.
    lines: Vec<usize>,
    bytes: usize,
}

/// Starts a run for every line; says the id of each, or why there is none.
pub(super) async fn start(
    client: &Client,
    console: &mut Console<'_>,
    (file, is_json): (&str, bool),
    defaults: &Defaults,
) -> Result<(), Error> {
    let mut refused = 0;
    let mut request = Request::default();
    for (index, line) in open(file)?.lines().enumerate() {
        let (number, line) = (index + 1, line?);
        if line.trim().is_empty() {
            continue;
        }
        let run = match read(&line, defaults, number) {
            Ok(run) => run,
            Err(why) => {
                console.note(&format!("line {number}: {why}"))?;
                refused += 1;
                continue;
            }
        };
        let is_full = request.runs.len() == LINES || request.bytes + line.len() > BYTES;
        if is_full && !request.runs.is_empty() {
            refused += send(client, console, is_json, std::mem::take(&mut request)).await?;
        }
        request.bytes += line.len();
        request.runs.push(run);
        request.lines.push(number);
    }
    if !request.runs.is_empty() {
        refused += send(client, console, is_json, request).await?;
    }
    if refused == 0 { Ok(()) } else { Err(Error::Said(Exit::Refused)) }
}

fn open(file: &str) -> Result<Box<dyn BufRead>, Error> {
    if file == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let open =
        File::open(file).map_err(|why| Error::Usage(format!("--batch: {file} cannot be read: {why}")))?;
    Ok(Box::new(BufReader::new(open)))
}

fn read(line: &str, defaults: &Defaults, number: usize) -> Result<Value, String> {
    let mut run: Map<String, Value> =
        serde_json::from_str(line).map_err(|why| format!("not an object of JSON: {why}"))?;
    let is_named = run.contains_key("name") || run.contains_key("definitionId");
    for (name, value) in &defaults.fields {
        let says_which = matches!(name.as_str(), "name" | "definitionId" | "version");
        if !(run.contains_key(name) || (says_which && is_named)) {
            run.insert(name.clone(), value.clone());
        }
    }
    if let Some(key) = &defaults.key {
        run.entry("idempotencyKey").or_insert_with(|| json!(format!("{key}/{number}")));
    }
    Ok(run.into())
}

async fn send(
    client: &Client,
    console: &mut Console<'_>,
    is_json: bool,
    Request { runs, lines, bytes: _ }: Request,
) -> Result<usize, Error> {
    let answer = client.post(&["workflow-runs", "batch"], &json!({ "runs": runs })).await?;
    let started: StartedRuns = answer.read()?;
    for (result, line) in started.results.iter().zip(lines) {
        if is_json {
            let mut result = json!(result);
            result["line"] = json!(line);
            console.line(&result.to_string())?;
            continue;
        }
        match (result.outcome, &result.id, &result.problem) {
            (StartOutcome::Refused, _, Some(problem)) => {
                console.note(&format!("line {line}: {} [{}]", problem.detail, problem.code))?;
            }
            (_, Some(id), _) => console.line(id)?,
            (_, None, _) => console.note(&format!("line {line}: no run was named"))?,
        }
    }
    Ok(usize::try_from(started.refused).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> Defaults {
        let fields = json!({ "name": "nap", "version": "2", "tags": ["night"] });
        Defaults { fields: fields.as_object().unwrap().clone(), key: Some("k".to_owned()) }
    }

    #[test]
    fn a_line_has_what_all_have_unless_it_says_otherwise() {
        let run = read(r#"{"input": 1}"#, &defaults(), 7).unwrap();
        let all =
            json!({ "name": "nap", "version": "2", "tags": ["night"], "input": 1, "idempotencyKey": "k/7" });
        assert_eq!(run, all);
        let own = read(r#"{"name": "other", "tags": [], "idempotencyKey": "mine"}"#, &defaults(), 8).unwrap();
        assert_eq!(own, json!({ "name": "other", "tags": [], "idempotencyKey": "mine" }));
    }

    #[test]
    fn a_line_that_is_no_object_is_refused() {
        assert!(read("[1]", &defaults(), 1).unwrap_err().starts_with("not an object of JSON"));
    }
}
