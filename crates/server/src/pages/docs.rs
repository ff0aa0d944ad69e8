//! The page at `/docs`: every route and every code, rendered from the table of routes.

use std::fmt::Write;

use serde_json::Value;

use super::{escaped, page};
use crate::endpoint::{Endpoint, PREFIXES, Routes, Verb};
use crate::guard::Access;
use crate::openapi;
use crate::problem::Code;

pub(crate) fn render(routes: &Routes) -> String {
    let document = openapi::document(routes);
    let mut html = String::from(
        "<header>\n<h1>abide</h1>\n<p>Durable workflows in which waiting is the first-class thing. Everything under \
         <code>/api/v1</code> is reached under <code>/v1</code> too. A list is <code>{\"data\": […], \"nextCursor\": …}\
         </code>. Fields and parameters that are not known are refused. The same as <a href=\"/openapi.json\">OpenAPI \
         3.1</a>.</p>\n<p>To try a line with curl, say where this server is first: <code>ABIDE=127.0.0.1:22433</code>. Where it \
         wants a key, add <code>-H \"x-api-key: …\"</code>.</p>\n</header>\n<nav>",
    );
    for group in &routes.groups {
        push(&mut html, format_args!("<a href=\"#{}\">{}</a>\n", anchor(group.name), escaped(group.name)));
    }
    html.push_str("<a href=\"#errors\">errors</a></nav>\n");
    for group in &routes.groups {
        let (id, name, about) = (anchor(group.name), escaped(group.name), escaped(group.about));
        push(&mut html, format_args!("<h2 id=\"{id}\">{name}</h2>\n<p class=\"soft\">{about}</p>\n"));
        for route in &group.routes {
            endpoint(&mut html, &route.endpoint, &document);
        }
    }
    errors(&mut html);
    page("abide: the API", "docs", &html)
}

fn push(html: &mut String, text: std::fmt::Arguments<'_>) {
    html.write_fmt(text).expect("a String takes everything");
}

fn anchor(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

/// Backquotes as code, the rest as text.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { code(part) } else { escaped(part) }).collect()
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

fn endpoint(html: &mut String, endpoint: &Endpoint, document: &Value) {
    let verb = match endpoint.verb {
        Verb::Get => "GET",
        Verb::Post => "POST",
        Verb::Patch => "PATCH",
        Verb::Put => "PUT",
        Verb::Delete => "DELETE",
        Verb::Any => "ALL",
    };
    let path = if endpoint.versioned {
        format!("{}{}", PREFIXES[0], endpoint.path)
    } else {
        endpoint.path.to_owned()
    };
    push(
        html,
        format_args!(
            "<details>\n<summary><span class=\"verb\">{verb}</span><span class=\"path\">{}</span>\
             <span class=\"soft\">{}</span></summary>\n<div>\n",
            escaped(&path),
            escaped(endpoint.summary)
        ),
    );
    if !endpoint.about.is_empty() {
        push(html, format_args!("<p>{}</p>\n", prose(endpoint.about)));
    }
    push(html, format_args!("<p class=\"soft\">{}</p>\n", prose(&needs(endpoint.access))));
    let method = if endpoint.verb == Verb::Any { "post" } else { &verb.to_lowercase() };
    let operation = &document["paths"][&path][method];
    push(html, format_args!("<pre>{}</pre>\n", escaped(&curl(method, &path, operation, document))));
    parameters(html, &operation["parameters"]);
    body(html, operation, document);
    answers(html, endpoint);
    html.push_str("</div>\n</details>\n");
}

fn needs(access: Access) -> String {
    let scopes = |scopes: &[abide_engine::stored::Scope]| {
        let names: Vec<String> = scopes.iter().map(|scope| format!("`{scope}`")).collect();
        names.join(" or ")
    };
    match access {
        Access::Open | Access::Anyone => "Open to everyone.".to_owned(),
        Access::Key(any_of) => {
            format!("Needs a key with the scope {}, unless the server is open.", scopes(any_of))
        }
        Access::Link(any_of) => {
            format!("Needs the token of its URL, or a key with the scope {}.", scopes(any_of))
        }
    }
}

/// The shortest request that makes sense, to be filled in.
fn curl(method: &str, path: &str, operation: &Value, document: &Value) -> String {
    let body = operation["requestBody"]["content"]["application/json"].as_object();
    let body = body.map(|content| skeleton(&content["schema"], document));
    let how = match (method, &body) {
        ("get", _) => String::new(),
        ("post", Some(body)) => format!(" --json '{body}'"),
        (method, Some(body)) => format!(" -X {} --json '{body}'", method.to_uppercase()),
        (method, None) => format!(" -X {}", method.to_uppercase()),
    };
    format!("curl -s{how} \"$ABIDE{path}\"")
}

/// The fields that are needed, each with something of its type.
fn skeleton(schema: &Value, document: &Value) -> String {
    let named = resolved(schema, document);
    let needed = named["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fields = needed.iter().filter_map(Value::as_str).map(|name| {
        let sample = match kind(&named["properties"][name], document) {
            "number" => "1",
            "list" => "[…]",
            "object" => "{…}",
            "true or false" => "true",
            "text" => "\"…\"",
            _ => "…",
        };
        format!("\"{name}\": {sample}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn resolved<'d>(schema: &'d Value, document: &'d Value) -> &'d Value {
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    name.map_or(schema, |name| &document["components"]["schemas"][name])
}

/// What a value is, in a word.
fn kind(schema: &Value, document: &Value) -> &'static str {
    let schema = resolved(schema, document);
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().find(|kind| *kind != "null").and_then(Value::as_str),
        Value::String(kind) => Some(kind.as_str()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    match types {
        Some("string") => "text",
        Some("integer" | "number") => "number",
        Some("boolean") => "true or false",
        Some("array") => "list",
        Some("object") => "object",
        Some(_) | None if schema["enum"].is_array() => "text",
        Some(_) | None => "anything",
    }
}

fn parameters(html: &mut String, parameters: &Value) {
    let rows = parameters.as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    html.push_str("<table class=\"three\"><tr><th>parameter</th><th>in</th><th>what</th></tr>\n");
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let (name, place, what) = (code(text("name")), text("in"), prose(text("description")));
        push(html, format_args!("<tr><td>{name}</td><td>{place}</td><td>{what}</td></tr>\n"));
    }
    html.push_str("</table>\n");
}

fn body(html: &mut String, operation: &Value, document: &Value) {
    let content = operation["requestBody"]["content"].as_object();
    let Some(content) = content else { return };
    let kinds: Vec<String> = content.keys().map(|kind| code(kind)).collect();
    let schema = &content.values().next().map(|content| &content["schema"]).unwrap_or(&Value::Null);
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let fields = document["components"]["schemas"][name]["properties"].as_object();
    let Some(fields) = fields else {
        return push(html, format_args!("<p>Body: {}.</p>\n", kinds.join(", ")));
    };
    let required = document["components"]["schemas"][name]["required"].as_array();
    html.push_str("<table class=\"three\"><tr><th>field</th><th>type</th><th>what</th></tr>\n");
    for (field, schema) in fields {
        let needed = required.is_some_and(|names| names.iter().any(|name| name == field));
        let needed = if needed { ", needed" } else { "" };
        let (kind, what) =
            (kind(schema, document), prose(schema["description"].as_str().unwrap_or_default()));
        push(html, format_args!("<tr><td>{}</td><td>{kind}{needed}</td><td>{what}</td></tr>\n", code(field)));
    }
    html.push_str("</table>\n");
}

fn answers(html: &mut String, endpoint: &Endpoint) {
    html.push_str("<table><tr><th>answer</th><th>when</th></tr>\n");
    for answer in &endpoint.answers {
        push(
            html,
            format_args!("<tr><td>{}</td><td>{}</td></tr>\n", answer.status.as_u16(), prose(answer.about)),
        );
    }
    for code in &endpoint.codes {
        let (status, name) = (code.status().as_u16(), code.name());
        push(html, format_args!("<tr><td>{status}</td><td><a href=\"#{name}\">{name}</a></td></tr>\n"));
    }
    html.push_str("</table>\n");
}

fn errors(html: &mut String) {
    html.push_str(
        "<h2 id=\"errors\">errors</h2>\n<p class=\"soft\">What cannot be done is answered with \
         <code>application/problem+json</code>. A program may rely on the code.</p>\n\
         <table><tr><th>code</th><th>status</th><th>what it means</th></tr>\n",
    );
    for code in Code::ALL {
        let (name, status, meaning) = (code.name(), code.status().as_u16(), prose(code.meaning()));
        push(
            html,
            format_args!(
                "<tr id=\"{name}\"><td><code>{name}</code></td><td>{status}</td><td>{meaning}</td></tr>\n"
            ),
        );
    }
    html.push_str("</table>\n");
}
