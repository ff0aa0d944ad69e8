//! What the headers of a request say again of its body, so that others can route it without reading it: they must agree.

use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::rpc::Error;

pub(crate) const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const PARAM: &str = "mcp-param-";
/// Marks a field of a schema whose value is in a header, too, and says in which.
const MARK: &str = "x-mcp-header";
const ENCODED: (&str, &str) = ("=?base64?", "?=");
/// How deep fields with a header are looked for.
const DEPTH: usize = 16;

/// Checks the headers that every request has.
pub(crate) fn check(headers: &HeaderMap, method: &str, params: &Map<String, Value>) -> Result<(), Error> {
    agree(headers, METHOD, method, false)?;
    let field = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Ok(()),
    };
    match params.get(field) {
        Some(Value::String(named)) => agree(headers, NAME, named, true),
        Some(_) | None => Ok(()),
    }
}

/// Checks the headers of those arguments whose fields in the schema ask for one.
pub(crate) fn check_arguments(headers: &HeaderMap, schema: &Value, arguments: &Value) -> Result<(), Error> {
    check_fields(headers, schema, arguments, DEPTH)
}

fn check_fields(headers: &HeaderMap, schema: &Value, value: &Value, depth: usize) -> Result<(), Error> {
    let Some(fields) = schema.get("properties").and_then(Value::as_object).filter(|_| depth > 0) else {
        return Ok(());
    };
    for (name, field) in fields {
        let given = value.get(name).unwrap_or(&Value::Null);
        check_fields(headers, field, given, depth - 1)?;
        let Some(suffix) = field.get(MARK).and_then(Value::as_str) else { continue };
        let header = format!("{PARAM}{}", suffix.to_ascii_lowercase());
        match given {
            Value::String(text) => agree(headers, &header, text, true)?,
            Value::Bool(truth) => agree(headers, &header, &truth.to_string(), true)?,
            Value::Number(number) => agree_in_number(headers, &header, number)?,
            Value::Null | Value::Array(_) | Value::Object(_) => {}
        }
    }
    Ok(())
}

fn agree(headers: &HeaderMap, header: &str, body: &str, encoded: bool) -> Result<(), Error> {
    let said = read(headers, header, encoded)?;
    if said == body {
        return Ok(());
    }
    Err(Error::header_mismatch(format!("the header `{header}` says `{said}`, and the body `{body}`")))
}

fn agree_in_number(headers: &HeaderMap, header: &str, body: &serde_json::Number) -> Result<(), Error> {
    let said = read(headers, header, true)?;
    if said.parse::<f64>().ok().is_some_and(|said| body.as_f64() == Some(said)) {
        return Ok(());
    }
    Err(Error::header_mismatch(format!("the header `{header}` says `{said}`, and the body `{body}`")))
}

fn read(headers: &HeaderMap, header: &str, encoded: bool) -> Result<String, Error> {
    let missing = || Error::header_mismatch(format!("the header `{header}` is missing"));
    let name = HeaderName::try_from(header).map_err(|_| missing())?;
    let value = headers.get(name).ok_or_else(missing)?;
    let bad = || Error::header_mismatch(format!("the header `{header}` cannot be read"));
    let text = value.to_str().map_err(|_| bad())?.trim();
    let (opening, closing) = ENCODED;
    match text.strip_prefix(opening).and_then(|rest| rest.strip_suffix(closing)) {
        Some(inner) if encoded => {
            let bytes = STANDARD.decode(inner).map_err(|_| bad())?;
            String::from_utf8(bytes).map_err(|_| bad())
        }
        Some(_) | None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        given
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    fn call(given: &[(&'static str, &str)], name: &str) -> bool {
        let params = json!({ "name": name });
        check(&headers(given), "tools/call", params.as_object().unwrap()).is_ok()
    }

    #[test]
    fn method_and_name_must_be_those_of_the_body() {
        assert!(call(&[("mcp-method", "tools/call"), ("mcp-name", " greet ")], "greet"));
        assert!(call(&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z3LDvMOfZQ==?=")], "grüße"));
        assert!(!call(&[("mcp-method", "tools/call"), ("mcp-name", "other")], "greet"));
        assert!(!call(&[("mcp-method", "tools/call")], "greet"));
        assert!(!call(&[("mcp-method", "TOOLS/CALL"), ("mcp-name", "greet")], "greet"));
        assert!(!call(&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z3Jl!?=")], "gre"));
    }

    #[test]
    fn a_marked_argument_is_in_its_header_too() {
        let schema = json!({"properties": {"region": {"type": "string", "x-mcp-header": "Region"},
            "n": {"type": "integer", "x-mcp-header": "N"}}});
        let good = headers(&[("mcp-param-region", "eu"), ("mcp-param-n", "42.0")]);
        assert!(check_arguments(&good, &schema, &json!({"region": "eu", "n": 42})).is_ok());
        assert!(check_arguments(&good, &schema, &json!({"region": "us", "n": 42})).is_err());
        assert!(check_arguments(&HeaderMap::new(), &schema, &json!({"region": "eu"})).is_err());
        assert!(check_arguments(&HeaderMap::new(), &schema, &json!({"region": null})).is_ok());
    }
}
