//! The page behind a resume link: what is asked, a form to answer it, and the outcome once there is one. It works
//! without scripts, and opening it decides nothing.

use abide_core::status::WaitStatus;
use abide_core::waitpoint::Kind;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use jiff::Timestamp;
use serde_json::Value;

use super::{edit, escaped, html, page as whole};
use crate::problem::{Code, Problem};
use crate::shape::waitpoint::WaitpointBody;

/// How much of a payload a page shows.
const SHOWN_CHARS: usize = 20_000;

/// Where the page stands.
#[derive(Clone, Copy)]
pub(crate) struct ConfirmPage<'a> {
    pub(crate) workflow: &'a str,
    /// Where the form goes: the page's own URL, which holds the token.
    pub(crate) action: &'a str,
    /// What was sent, and is shown again if it was refused.
    pub(crate) typed: &'a Value,
}

pub(crate) fn page(
    wait: &WaitpointBody,
    asked: ConfirmPage<'_>,
    refused: Option<&Problem>,
) -> impl IntoResponse {
    let workflow = asked.workflow;
    let status = refused.map_or(StatusCode::OK, Problem::status);
    let content = match wait.status {
        WaitStatus::Pending => open(wait, asked, refused),
        WaitStatus::Completed | WaitStatus::TimedOut | WaitStatus::Cancelled => over(wait, workflow),
    };
    html(
        status,
        whole(&format!("{workflow} · abide"), "ask", &card(workflow, &content, &wait.id.to_string())),
    )
}

/// Nothing is shown of a waitpoint to those whose link is not good.
pub(crate) fn refused(problem: &Problem) -> impl IntoResponse {
    let headings = [
        (Code::LinkRevoked, "This link was withdrawn"),
        (Code::BadLink, "This link is not complete"),
        (Code::UnknownRun, "There is nothing here any more"),
    ];
    let heading = headings.iter().find(|(code, _)| *code == problem.code);
    let heading = heading.map_or("This cannot be shown", |(_, heading)| heading);
    let content = format!("<h1>{heading}</h1>\n<p>{}</p>", escaped(&problem.detail));
    let foot = problem.code.name();
    html(problem.status(), whole("abide", "ask", &card("", &content, foot)))
}

fn card(over: &str, content: &str, foot: &str) -> String {
    let over = match over {
        "" => String::new(),
        over => format!("<p class=\"over\">{}</p>\n", escaped(over)),
    };
    format!("<main class=\"card\">\n{over}{content}\n<p class=\"foot\">{}</p>\n</main>", escaped(foot))
}

fn open(wait: &WaitpointBody, asked: ConfirmPage<'_>, refused: Option<&Problem>) -> String {
    let mut content = String::new();
    for line in refused.iter().flat_map(|problem| problem.lines()) {
        content.push_str(&format!("<p class=\"bad\" role=\"alert\">{}</p>\n", escaped(&line)));
    }
    match &wait.approval {
        Some(approval) => {
            let prompt = approval.prompt.as_deref().unwrap_or("Do you approve?");
            content.push_str(&format!("<h1>{}</h1>\n", escaped(prompt)));
            content.push_str(&shown(&approval.content));
            if approval.quorum > 1 {
                let (votes, quorum) = (approval.decisions.len(), approval.quorum);
                content
                    .push_str(&format!("<p class=\"soft\">{votes} of {quorum} needed have decided.</p>\n"));
            }
        }
        None => {
            let step = wait.whose().unwrap_or_else(|| asked.workflow.to_owned());
            content.push_str(&format!("<h1>Let <code>{}</code> go on?</h1>\n", escaped(&step)));
        }
    }
    if let Some(at) = wait.resume_at {
        content.push_str(&format!("<p class=\"soft\">Possible until {}.</p>\n", when(at)));
    }
    let digest = wait.approval.as_ref().map(|approval| approval.content_digest.as_str());
    let edit = wait.approval.as_ref().map(|approval| edit::fields(approval, asked.typed, refused.is_some()));
    content.push_str(&form(wait.kind, asked.action, digest, &edit.unwrap_or_default()));
    content
}

fn form(kind: Kind, action: &str, digest: Option<&str>, edit: &str) -> String {
    // What is decided is what this page shows.
    let digest = digest.map(|digest| {
        format!("<input type=\"hidden\" name=\"contentDigest\" value=\"{}\">\n", escaped(digest))
    });
    let digest = digest.unwrap_or_default();
    let fields = match kind {
        Kind::Approval => format!(
            "<label for=\"comment\">Comment, if you like</label>\n\
             <textarea id=\"comment\" name=\"comment\" maxlength=\"1000\"></textarea>\n<div class=\"buttons\">\n\
             <button class=\"yes\" name=\"decision\" value=\"approve\">Approve</button>\n\
             <button name=\"decision\" value=\"reject\">Reject</button>\n</div>\n{edit}"
        ),
        Kind::Webhook => "<input type=\"hidden\" name=\"confirmed\" value=\"true\">\n\
             <div class=\"buttons\"><button class=\"yes\">Continue</button></div>"
            .to_owned(),
        Kind::Delay
        | Kind::Signal
        | Kind::Event
        | Kind::Child
        | Kind::Pause
        | Kind::Retry
        | Kind::Schedule
        | Kind::Code
        | Kind::Capacity => {
            return String::new();
        }
    };
    format!("<form method=\"post\" action=\"{}\">\n{digest}{fields}\n</form>", escaped(action))
}

fn over(wait: &WaitpointBody, workflow: &str) -> String {
    let payload = wait.resume_payload.as_deref();
    let decision = payload.and_then(|payload| payload.get("decision")).and_then(Value::as_str);
    let heading = match (wait.status, decision) {
        (WaitStatus::TimedOut, _) => "The time for this is over",
        (WaitStatus::Cancelled, _) => "This is no longer needed",
        (WaitStatus::Completed | WaitStatus::Pending, Some("approve" | "approved")) => "Approved",
        (WaitStatus::Completed | WaitStatus::Pending, Some("reject" | "rejected")) => "Rejected",
        (WaitStatus::Completed | WaitStatus::Pending, Some("edit")) => "Approved with changes",
        (WaitStatus::Completed | WaitStatus::Pending, _) => "Done",
    };
    let mut content = format!("<h1>{heading}</h1>\n<dl>\n");
    let mut row = |name: &str, value: String| content.push_str(&format!("<dt>{name}</dt><dd>{value}</dd>\n"));
    if let Some(prompt) = wait.approval.as_ref().and_then(|approval| approval.prompt.as_deref()) {
        row("Asked", escaped(prompt));
    }
    if let Some(at) = wait.resolved_at {
        row("When", when(at));
    }
    if let Some(by) = &wait.resolved_by {
        row("By", escaped(&by.to_string()));
    }
    if let Some(comment) = payload.and_then(|payload| payload.get("comment")).and_then(Value::as_str) {
        row("Comment", escaped(comment));
    }
    let step = wait.whose().unwrap_or_else(|| workflow.to_owned());
    row("Step", format!("<code>{}</code>", escaped(&step)));
    content.push_str("</dl>\n<p class=\"soft\">This is recorded. Nothing more can be changed here.</p>\n");
    content
}

/// Content as people read it: text as it is, anything else as JSON.
fn shown(content: &Value) -> String {
    let (text, class) = match content {
        Value::Null => return String::new(),
        Value::String(text) => (text.clone(), " class=\"text\""),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            (serde_json::to_string_pretty(content).expect("a value is JSON"), "")
        }
    };
    let cut: String = text.chars().take(SHOWN_CHARS).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("<pre{class}>{}{more}</pre>\n", escaped(&cut))
}

fn when(at: Timestamp) -> String {
    let text = at.strftime("%-d %B %Y, %H:%M UTC").to_string();
    format!("<time datetime=\"{at}\">{text}</time>")
}
