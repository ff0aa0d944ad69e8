//! The part of the page behind an approval's link in which its content is changed: a field for every property that the
//! schema names, or one for the whole.

use serde_json::Value;

use super::escaped;
use crate::edits::{PROPERTY, WHOLE, as_text, properties};
use crate::shape::waitpoint::ApprovalBody;

/// The fields, closed until somebody wants them; open where something that was typed was refused.
pub(super) fn fields(approval: &ApprovalBody, typed: &Value, is_refused: bool) -> String {
    let schema = approval.content_schema.as_deref().unwrap_or(&Value::Null);
    let shown = |name: &str, before: &Value| match typed.get(name).and_then(Value::as_str) {
        Some(typed) if is_refused => typed.to_owned(),
        Some(_) | None => as_text(before),
    };
    let fields = match properties(schema) {
        Some(properties) => properties
            .iter()
            .map(|(name, of_property)| {
                let field = format!("{PROPERTY}{name}");
                let value = shown(&field, &approval.content[name]);
                labelled(&field, of_property["title"].as_str().unwrap_or(name), of_property, &value)
            })
            .collect::<String>(),
        None if approval.content.is_null() && approval.content_schema.is_none() => return String::new(),
        None => labelled(WHOLE, "The content as it should be", schema, &shown(WHOLE, &approval.content)),
    };
    let open = if is_refused { " open" } else { "" };
    format!(
        "<details class=\"edit\"{open}>\n<summary>Change it</summary>\n{fields}<div class=\"buttons\">\
         <button name=\"decision\" value=\"edit\">Approve with these changes</button></div>\n</details>"
    )
}

fn labelled(name: &str, label: &str, schema: &Value, value: &str) -> String {
    let id = escaped(name);
    let about = schema["description"].as_str().map(|about| format!(" <small>{}</small>", escaped(about)));
    let about = about.unwrap_or_default();
    format!("<label for=\"{id}\">{}{about}</label>\n{}\n", escaped(label), field(&id, schema, value))
}

fn field(id: &str, schema: &Value, value: &str) -> String {
    let option = |text: &str, label: &str| {
        let chosen = if text == value { " selected" } else { "" };
        format!("<option value=\"{}\"{chosen}>{}</option>", escaped(text), escaped(label))
    };
    let select = |options: String| format!("<select id=\"{id}\" name=\"{id}\">{options}</select>");
    if let Some(choices) = schema["enum"].as_array() {
        return select(choices.iter().map(as_text).map(|choice| option(&choice, &choice)).collect());
    }
    // Whole numbers of any size, and texts of a number that is not one yet, are the server's to judge.
    let number = |step: &str| {
        format!(
            "<input id=\"{id}\" name=\"{id}\" type=\"number\" step=\"{step}\" value=\"{}\">",
            escaped(value)
        )
    };
    match schema["type"].as_str() {
        Some("boolean") => select([option("true", "yes"), option("false", "no")].concat()),
        Some("integer") if value.is_empty() || value.parse::<i64>().is_ok() => number("1"),
        Some("number") if value.is_empty() || value.parse::<f64>().is_ok() => number("any"),
        Some("string") if !value.contains('\n') && schema["format"] != "textarea" => {
            format!("<input id=\"{id}\" name=\"{id}\" value=\"{}\">", escaped(value))
        }
        Some(_) | None => format!("<textarea id=\"{id}\" name=\"{id}\">\n{}</textarea>", escaped(value)),
    }
}
