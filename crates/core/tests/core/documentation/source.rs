//! What the source says of itself: the variants and fields that a page must name.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::documentation::Names;
use crate::documentation::page::codes;

/// The names of an enum's variants, from the refusal of one that it does not have.
pub(crate) fn variants<E: DeserializeOwned>(unknown: Value) -> Names {
    let Err(error) = serde_json::from_value::<E>(unknown) else { panic!("there is a variant `?`") };
    codes(&error.to_string()).into_iter().filter(|name| name != "?").collect()
}

/// The variants of an enum with their fields as they are written in JSON, read from its source. A field that may be
/// absent is in brackets.
pub(crate) fn variants_with_fields(source: &str, opening: &str) -> BTreeMap<String, Vec<String>> {
    let mut variants: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut current, mut may_be_absent) = (String::new(), false);
    for line in body(source, opening) {
        let (text, depth) = (line.trim_start(), line.len() - line.trim_start().len());
        may_be_absent |= text.contains("skip_serializing_if");
        if depth == 4 && text.starts_with(char::is_uppercase) {
            current = screaming(text);
            variants.insert(current.clone(), Vec::new());
        } else if depth == 8
            && let Some((name, _)) = text.split_once(": ").filter(|_| text.starts_with(char::is_lowercase))
        {
            variants.entry(current.clone()).or_default().push(field(name, may_be_absent));
            may_be_absent = false;
        }
    }
    variants
}

pub(crate) fn fields_of_struct(source: &str, opening: &str) -> Vec<String> {
    let (mut fields, mut may_be_absent) = (Vec::new(), false);
    for line in body(source, opening) {
        may_be_absent |= line.contains("skip_serializing_if");
        if let Some((name, _)) = line.trim_start().strip_prefix("pub ").and_then(|line| line.split_once(": "))
        {
            fields.push(field(name, may_be_absent));
            may_be_absent = false;
        }
    }
    fields
}

fn body<'s>(source: &'s str, opening: &str) -> impl Iterator<Item = &'s str> {
    let (_, after) = source.split_once(opening).unwrap();
    after.lines().take_while(|line| *line != "}")
}

/// `resume_at` → `resumeAt`
fn field(name: &str, may_be_absent: bool) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap().to_owned();
    for part in parts {
        camel.push_str(&part[..1].to_uppercase());
        camel.push_str(&part[1..]);
    }
    if may_be_absent { format!("[{camel}]") } else { camel }
}

/// `StepStarted { … }` → `STEP_STARTED`
fn screaming(variant: &str) -> String {
    let name: String = variant.chars().take_while(|c| c.is_alphanumeric()).collect();
    let mut screaming = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !screaming.is_empty() {
            screaming.push('_');
        }
        screaming.extend(c.to_uppercase());
    }
    screaming
}
