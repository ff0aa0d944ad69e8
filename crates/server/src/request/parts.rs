//! A form with files (`multipart/form-data`, RFC 7578), read into JSON: a field is a text, a file is its bytes as base64
//! with its name and type. Bounded: the body is limited before it comes here, the number of parts and the size of
//! their headers here.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

use super::encoded::{encoded, is_text};
use super::repeated::put;
use crate::problem::{Code, Problem};

/// Fields and files of one form.
const PARTS: usize = 1_000;
/// The headers of one part.
const PART_HEADER_BYTES: usize = 8 * 1024;

/// The fields and files by name; a name that is given more than once has a list.
pub(super) fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Value, Problem> {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = parameter(media_type, "boundary")
        .filter(|boundary| (1..=70).contains(&boundary.len()))
        .ok_or_else(|| bad("its Content-Type names no boundary"))?;
    let mut form = Map::new();
    let parts = split(bytes, &boundary)?;
    if parts.len() > PARTS {
        return Err(bad(&format!("it has {} parts, over the limit of {PARTS}", parts.len())));
    }
    for part in parts {
        let (name, value) = part_of(part)?;
        put(&mut form, name, value);
    }
    Ok(Value::Object(form))
}

/// What stands between the delimiters.
fn split<'b>(bytes: &'b [u8], boundary: &str) -> Result<Vec<&'b [u8]>, Problem> {
    let delimiter = format!("--{boundary}");
    let delimiter = delimiter.as_bytes();
    let mut rest = match find(bytes, delimiter) {
        Some(0) => &bytes[delimiter.len()..],
        Some(at) if bytes[..at].ends_with(b"\n") => &bytes[at + delimiter.len()..],
        Some(_) | None => return Err(bad("it does not begin with its boundary")),
    };
    let delimiter = [b"\r\n", delimiter].concat();
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        let begun = find(rest, b"\r\n").ok_or_else(|| bad("it ends in the middle of a part"))?;
        let part = &rest[begun + 2..];
        // A part without a body and without headers has its delimiter right here.
        let end = find(part, &delimiter).ok_or_else(|| bad("it ends in the middle of a part"))?;
        parts.push(&part[..end]);
        rest = &part[end + delimiter.len()..];
    }
    Ok(parts)
}

fn part_of(part: &[u8]) -> Result<(String, Value), Problem> {
    let (head, body) = match (part.strip_prefix(b"\r\n"), find(part, b"\r\n\r\n")) {
        (Some(body), _) => (&part[..0], body),
        (None, Some(end)) => (&part[..end], &part[end + 4..]),
        (None, None) => return Err(bad("a part has no headers")),
    };
    if head.len() > PART_HEADER_BYTES {
        return Err(bad("the headers of a part are too large"));
    }
    let head = String::from_utf8_lossy(head);
    let header = |wanted: &str| {
        head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    let disposition = header("content-disposition").unwrap_or_default();
    let name = parameter(disposition, "name").ok_or_else(|| bad("a part has no name"))?;
    let filename = parameter(disposition, "filename");
    let media_type = header("content-type");
    let essence =
        media_type.map(|given| given.split(';').next().unwrap_or(given).trim().to_ascii_lowercase());
    let is_field = filename.is_none() && essence.as_deref().is_none_or(is_text);
    if is_field && let Ok(text) = std::str::from_utf8(body) {
        return Ok((name, Value::from(text)));
    }
    let mut file = encoded(body, media_type);
    if let (Some(file), Some(filename)) = (file.as_object_mut(), filename) {
        file.insert("filename".to_owned(), Value::from(filename));
    }
    Ok((name, file))
}

/// A parameter of a header's value, such as `name` in `form-data; name="a"`.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let name = name.trim_matches([';', ' ', '\t']);
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after.trim_start_matches([';', ' ', '\t']);
    }
}

/// A quoted text up to its end, and what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            other => value.push(other),
        }
    }
    None
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}

fn bad(why: &str) -> Problem {
    Problem::new(Code::BadRequest, format!("the body is no `multipart/form-data`: {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(media_type: &str, body: &[u8]) -> Result<Value, String> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, media_type.parse().unwrap());
        read(&headers, body).map_err(|problem| problem.detail)
    }

    #[test]
    fn fields_are_texts_and_files_are_base64_with_their_name_and_type() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nh\xc3\xa9\r\nllo\r\n\
            --x\r\ncontent-disposition: form-data; filename=\"a \\\"b\\\".png\"; name=\"file\"\r\nContent-Type: image/png\r\n\r\n\
            \x00\xff\r\n--x\r\nContent-Disposition: form-data; name=note\r\n\r\n\r\n--x--\r\n";
        let expected = json!({
            "note": ["h\u{e9}\r\nllo", ""],
            "file": { "base64": "AP8=", "contentType": "image/png", "filename": "a \"b\".png" },
        });
        assert_eq!(form("multipart/form-data; boundary=x", body), Ok(expected.clone()));
        assert_eq!(form("multipart/form-data; charset=utf-8; boundary=\"x\"", body), Ok(expected));
    }

    #[test]
    fn what_is_no_form_is_refused_and_nothing_panics() {
        let whole = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n";
        assert_eq!(form("multipart/form-data; boundary=x", whole), Ok(json!({ "a": "1" })));
        for end in 0..whole.len() - 3 {
            let cut = form("multipart/form-data; boundary=x", &whole[..end]);
            assert!(cut.is_err(), "{end}: {cut:?}");
        }
        assert!(form("multipart/form-data", whole).unwrap_err().contains("boundary"));
        assert!(form("multipart/form-data; boundary=\"", whole).unwrap_err().contains("boundary"));
        assert!(form("multipart/form-data; boundary=y", whole).is_err());
        assert!(
            form("multipart/form-data; boundary=x", b"--x\r\nX: 1\r\n\r\n1\r\n--x--")
                .unwrap_err()
                .contains("name")
        );
        let many = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n".repeat(PARTS + 1);
        assert!(
            form("multipart/form-data; boundary=x", &[&many[..], b"--x--"].concat())
                .unwrap_err()
                .contains("1001")
        );
    }
}
