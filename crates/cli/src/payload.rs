//! JSON as it is given on a command line: itself, `@file`, or `-` for the standard input.

use std::fs;
use std::io::{self, Read};

use abide_core::limits;
use serde_json::Value;

use crate::client::Error;

/// What `--input` and its like say in `--help`.
pub(crate) const FORM: &str = "JSON|@FILE|-";

pub(crate) fn read(flag: &str, given: &str) -> Result<Value, Error> {
    let text = match given.strip_prefix('@') {
        Some(file) => fs::read_to_string(file)
            .map_err(|why| Error::Usage(format!("{flag}: {file} cannot be read: {why}")))?,
        None if given == "-" => {
            let mut text = String::new();
            // One byte more shows that it is too much; the server says so.
            let most = limits::PAYLOAD_BYTES as u64 + 1;
            io::stdin().lock().take(most).read_to_string(&mut text)?;
            text
        }
        None => given.to_owned(),
    };
    serde_json::from_str(&text).map_err(|why| {
        let hint = if given.starts_with('@') || given == "-" {
            ""
        } else {
            "; text needs quotes of its own ('\"text\"'), a file an @"
        };
        Error::Usage(format!("{flag}: not JSON: {why}{hint}"))
    })
}

/// Null where nothing is given.
pub(crate) fn read_or_null(flag: &str, given: Option<&str>) -> Result<Value, Error> {
    given.map_or(Ok(Value::Null), |given| read(flag, given))
}

/// `name=JSON`, as `--signal` takes it.
pub(crate) fn read_named(flag: &str, given: &str) -> Result<(String, Value), Error> {
    match given.split_once('=') {
        Some((name, payload)) => Ok((name.to_owned(), read(flag, payload)?)),
        None => Ok((given.to_owned(), Value::Null)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_taken_as_it_is_and_text_must_be_quoted() {
        assert_eq!(read("--input", "{\"a\": 1}").unwrap(), json!({"a": 1}));
        assert_eq!(read_or_null("--input", None).unwrap(), Value::Null);
        assert_eq!(
            read_named("--signal", "paid={\"a\":\"b=c\"}").unwrap(),
            ("paid".to_owned(), json!({"a": "b=c"}))
        );
        let error = read("--input", "hello").unwrap_err().to_string();
        assert!(error.starts_with("--input: not JSON") && error.contains("quotes"), "{error}");
        let error = read("--input", "@nowhere.json").unwrap_err().to_string();
        assert!(error.contains("nowhere.json cannot be read"), "{error}");
    }
}
