//! The query of a URL: each parameter at most once, none that is not known.

use abide_core::problem::{Code as FindingCode, Problem as Finding, pointer};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::schema;
use crate::app::Shared;
use crate::problem::{Code, Problem};

#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T> FromRequestParts<Shared> for Query<T>
where
    T: DeserializeOwned + JsonSchema + 'static,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Query<T>, Problem> {
        read(parts.uri.query().unwrap_or_default()).map(Query)
    }
}

pub(crate) fn read<T: DeserializeOwned + JsonSchema + 'static>(query: &str) -> Result<T, Problem> {
    let properties = &schema::schema_of::<T>()["properties"];
    let mut fields = Map::new();
    for (name, text) in form_urlencoded::parse(query.as_bytes()) {
        let value = typed(&text, &properties[&*name]);
        if fields.insert(name.to_string(), value).is_some() {
            let finding = Finding::new(
                pointer("", &name),
                FindingCode::DuplicateName,
                format!("the query parameter `{name}` is given twice"),
            );
            return Err(Problem::found(Code::Malformed, vec![finding]));
        }
    }
    schema::fit(Value::Object(fields))
}

/// Text, or the number, truth value or list that the schema asks for and the text spells.
fn typed(text: &str, schema: &Value) -> Value {
    let is = |kind: &str| {
        let types = &schema["type"];
        types == kind || types.as_array().is_some_and(|types| types.iter().any(|named| named == kind))
    };
    let spelled = match text {
        "true" | "false" if is("boolean") => Some(Value::Bool(text == "true")),
        _ if is("integer") => text.parse::<u64>().ok().map(Value::from),
        "" if is("array") => Some(Value::Array(Vec::new())),
        _ if is("array") => {
            Some(Value::Array(text.split(',').map(|item| Value::from(item.trim())).collect()))
        }
        _ => None,
    };
    spelled.unwrap_or_else(|| Value::from(text))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    struct ListParameters {
        limit: Option<u32>,
        pending: Option<bool>,
        status: Option<Vec<String>>,
        tag: Option<String>,
    }

    #[test]
    fn parameters_are_read_as_their_types() {
        let asked: ListParameters = read("limit=7&pending=true&status=A,B&tag=7").unwrap();
        let status = Some(vec!["A".to_owned(), "B".to_owned()]);
        let expected =
            ListParameters { limit: Some(7), pending: Some(true), status, tag: Some("7".to_owned()) };
        assert_eq!(asked, expected);
    }

    #[test]
    fn what_is_unknown_doubled_or_not_of_its_type_is_refused() {
        for (query, words) in [
            ("limt=7", "did you mean `limit`?"),
            ("limit=7&limit=8", "given twice"),
            ("limit=many", "a whole number"),
            ("pending=yes", "true or false"),
        ] {
            let problem = read::<ListParameters>(query).unwrap_err();
            assert!(problem.detail.contains(words), "{query}: {}", problem.detail);
            assert_eq!(problem.code, Code::Malformed);
        }
    }
}
