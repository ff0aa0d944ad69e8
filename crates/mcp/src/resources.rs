//! Resources: runs, their histories, what waits, and the pages of the book.

use serde_json::{Value, json};

use crate::api::{Problem, segment, text};
use crate::client::Era;
use crate::discover::{LISTED_MS, cached};
use crate::dispatch::{Context, required};
use crate::rpc::Error;

const SCHEME: &str = "abide://";
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
/// Where the book lists its pages, and where they are.
const PAGES: &str = "/llms.txt";
const BOOK: &str = "book/";
/// Pages do not change while a server runs.
const PAGE_MS: u64 = 3_600_000;
/// Items of a list, and records of a history, in one resource.
const ITEMS: usize = 100;

/// What a URI names.
#[derive(Debug, PartialEq)]
pub(crate) enum Named<'u> {
    Runs,
    Waits,
    Run(&'u str),
    History(&'u str),
    Wait(&'u str),
    Page(&'u str),
}

pub(crate) fn named(uri: &str) -> Option<Named<'_>> {
    let parts: Vec<&str> = uri.strip_prefix(SCHEME)?.splitn(2, '/').collect();
    match parts.as_slice() {
        ["runs"] => Some(Named::Runs),
        ["waits"] => Some(Named::Waits),
        ["runs", rest] => match rest.strip_suffix("/history") {
            Some(run) => is_id(run, "run_").then_some(Named::History(run)),
            None => is_id(rest, "run_").then_some(Named::Run(rest)),
        },
        ["waits", wait] => is_id(wait, "wp_").then_some(Named::Wait(wait)),
        ["docs", page] => is_page(page).then_some(Named::Page(page)),
        _ => None,
    }
}

fn is_id(text: &str, prefix: &str) -> bool {
    text.starts_with(prefix) && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn is_page(path: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    path.ends_with(".md") && path.chars().all(is_plain) && !path.contains("..")
}

pub(crate) async fn list(context: &Context) -> Result<Value, Error> {
    let own = [
        ("waits", "What waits", "Every open wait of every run, the next due first."),
        ("runs", "Runs", "The newest runs, with what became of them."),
    ];
    let own = own.map(|(path, title, about)| {
        let uri = format!("{SCHEME}{path}");
        json!({ "uri": uri, "name": path, "title": title, "description": about, "mimeType": JSON })
    });
    let pages = context.api.text(PAGES).await.unwrap_or_default();
    let pages = pages.lines().filter_map(page);
    let resources: Vec<Value> = own.into_iter().chain(pages).collect();
    Ok(cached(context.client.era, json!({ "resources": resources }), LISTED_MS))
}

/// A line of the list of pages: `- [title](url): what it is about`.
fn page(line: &str) -> Option<Value> {
    let (title, rest) = line.strip_prefix("- [")?.split_once("](")?;
    let (url, about) = rest.split_once(')')?;
    let path = url.strip_prefix(BOOK)?;
    let about = about.strip_prefix(": ").filter(|about| !about.is_empty()).unwrap_or(title);
    let uri = format!("{SCHEME}docs/{path}");
    Some(json!({ "uri": uri, "name": path, "title": title, "description": about, "mimeType": MARKDOWN }))
}

pub(crate) fn templates(era: Era) -> Value {
    let templates = [
        ("runs/{runId}", "run", "A run: its status, input, output, steps, and what it waits for.", JSON),
        ("runs/{runId}/history", "history", "The first records of the history of a run.", JSON),
        ("waits/{waitpointId}", "wait", "A wait: of which run, for what, until when.", JSON),
        ("docs/{path}", "docs", "A page of the book, such as `guides/mcp.md`.", MARKDOWN),
    ];
    let templates = templates.map(|(path, name, about, kind)| {
        let template = format!("{SCHEME}{path}");
        json!({ "uriTemplate": template, "name": name, "description": about, "mimeType": kind })
    });
    cached(era, json!({ "resourceTemplates": templates }), PAGE_MS)
}

pub(crate) async fn read(context: &Context, params: &Value) -> Result<Value, Error> {
    let uri = required(params, "uri")?;
    let unknown = || Error::unknown_resource(uri);
    let get = async |path: String| match context.api.get(&path).await {
        Ok(found) => Ok(found.to_string()),
        Err(problem) if is_unknown(&problem) => Err(unknown()),
        Err(problem) => Err(problem.into()),
    };
    let (kind, ms, text) = match named(uri).ok_or_else(unknown)? {
        Named::Runs => (JSON, 0, get(format!("/workflow-runs?limit={ITEMS}")).await?),
        Named::Waits => (JSON, 0, get(format!("/waitpoints?status=PENDING&limit={ITEMS}")).await?),
        Named::Run(run) => (JSON, 0, get(format!("/workflow-runs/{}", segment(run))).await?),
        Named::History(run) => {
            (JSON, 0, get(format!("/workflow-runs/{}/events?limit={ITEMS}", segment(run))).await?)
        }
        Named::Wait(wait) => (JSON, 0, get(format!("/waitpoints/{}", segment(wait))).await?),
        Named::Page(page) => {
            let found = context.api.text(&format!("/{BOOK}{page}")).await;
            (MARKDOWN, PAGE_MS, found.ok_or_else(unknown)?)
        }
    };
    let contents = json!([{ "uri": uri, "mimeType": kind, "text": text }]);
    Ok(cached(context.client.era, json!({ "contents": contents }), ms))
}

fn is_unknown(problem: &Problem) -> bool {
    problem.is_unknown() || (problem.is_about_what_was_sent() && text(&problem.body, "code") == "MALFORMED")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_one_thing_or_nothing() {
        for (uri, expected) in [
            ("abide://runs", Some(Named::Runs)),
            ("abide://runs/run_01ab", Some(Named::Run("run_01ab"))),
            ("abide://runs/run_01ab/history", Some(Named::History("run_01ab"))),
            ("abide://waits/wp_01ab_1", Some(Named::Wait("wp_01ab_1"))),
            ("abide://docs/guides/mcp.md", Some(Named::Page("guides/mcp.md"))),
            ("abide://docs/../secrets.md", None),
            ("abide://runs/run_1?x", None),
            ("abide://runs/run_1/other", None),
            ("file:///etc/passwd", None),
            ("abide://", None),
        ] {
            assert_eq!(named(uri), expected, "{uri}");
        }
    }

    #[test]
    fn a_line_of_the_list_of_pages_is_a_resource() {
        let read = page("- [Approvals](book/guides/approvals.md): Ask a person.").unwrap();
        assert_eq!(read["uri"], "abide://docs/guides/approvals.md");
        assert_eq!(read["description"], "Ask a person.");
        assert!(page("# abide").is_none());
    }
}
