//! Takes the values of secrets out of what is stored or shown, also in the forms in which calls carry them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::Secret;

/// A shorter value stands in too many places by chance, and hiding it there would show what it is.
const SHORTEST_BYTES: usize = 4;

#[derive(Clone, Default)]
pub struct Redactor {
    /// What to look for and what to put there; longest first, so that a secret within another does not break it up.
    forms: Vec<(String, String)>,
}

impl Redactor {
    pub fn new<'s>(secrets: impl IntoIterator<Item = (&'s str, &'s Secret)>) -> Redactor {
        let mut forms = Vec::new();
        for (name, secret) in secrets {
            let value = secret.expose();
            if value.len() < SHORTEST_BYTES {
                continue;
            }
            let instead = format!("[secret {name}]");
            let percent = utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
            let in_json = serde_json::to_string(value).expect("a string is JSON");
            let in_form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
            let escaped = [percent, in_url(value), in_form];
            let mut all: Vec<String> = escaped.iter().map(|form| lower_escapes(form)).collect();
            all.extend(escaped);
            all.extend([value.to_owned(), in_json[1..in_json.len() - 1].to_owned()]);
            all.extend(in_base64(value.as_bytes()));
            all.retain(|form| form.len() >= SHORTEST_BYTES);
            forms.extend(all.into_iter().map(|form| (form, instead.clone())));
        }
        forms.sort_by(|(one, _), (other, _)| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup_by(|(one, _), (other, _)| one == other);
        Redactor { forms }
    }

    pub fn text(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for (form, instead) in &self.forms {
            if clean.contains(form.as_str()) {
                clean = clean.replace(form.as_str(), instead);
            }
        }
        clean
    }

    /// Every string in it, names of members too.
    pub fn json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.json(item)).collect()),
            Value::Object(members) => {
                let members = members.iter().map(|(name, member)| (self.text(name), self.json(member)));
                Value::Object(members.collect())
            }
            Value::Number(number) => {
                let text = number.to_string();
                let clean = self.text(&text);
                if clean == text { value.clone() } else { Value::String(clean) }
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }
}

/// Some write the digits of an escape small.
fn lower_escapes(percent: &str) -> String {
    let mut parts = percent.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |done, part| {
        let (digits, rest) = part.split_at(part.len().min(2));
        format!("{done}%{}{rest}", digits.to_lowercase())
    })
}

/// As most libraries write it: more characters stay as they are.
fn in_url(value: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    utf8_percent_encode(value, KEPT).to_string()
}

/// A value in the middle of something longer, such as `user:password`, is encoded in one of three ways, by where it
/// begins. The characters at its ends depend on its neighbours and are left out.
fn in_base64(value: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut padded = vec![0; before];
        padded.extend_from_slice(value);
        let begin = (before * 8).div_ceil(6);
        let whole = padded.len() * 8 / 6;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            forms.push(engine.encode(&padded)[begin..whole].to_owned());
        }
    }
    // A short rest would hide what is not a secret.
    forms.retain(|form| form.len() > SHORTEST_BYTES);
    forms
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor of {} forms", self.forms.len())
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    fn redactor(value: &str) -> Redactor {
        Redactor::new([("KEY", &Secret::new(value))])
    }

    #[test]
    fn a_secret_is_taken_out_in_every_form() {
        let value = "S3cr/t +\"ä~p4ss";
        let redactor = redactor(value);
        let json = json!({"x": value}).to_string();
        let url: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        let percent = utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
        for text in [value.to_owned(), json, url, lower_escapes(&percent), percent] {
            let clean = redactor.text(&format!("before {text} after"));
            assert!(clean.contains("[secret KEY]"), "{clean}");
            assert!(!clean.contains("p4ss") && !clean.contains("S3cr"), "{clean}");
        }
    }

    #[test]
    fn a_secret_is_taken_out_of_base64_wherever_it_begins() {
        let redactor = redactor("correct horse battery");
        for before in ["", "u", "us", "user:"] {
            for after in ["", "x", "yz"] {
                let encoded = STANDARD.encode(format!("{before}correct horse battery{after}"));
                let clean = redactor.text(&format!("Basic {encoded}"));
                assert!(clean.contains("[secret KEY]"), "{before} {after}: {clean}");
            }
        }
    }

    #[test]
    fn strings_names_and_numbers_of_json_are_looked_through() {
        let redactor = redactor("123456");
        let dirty = json!({"a 123456": [123456, {"b": "123456"}, null, 7]});
        let clean = json!({"a [secret KEY]": ["[secret KEY]", {"b": "[secret KEY]"}, null, 7]});
        assert_eq!(redactor.json(&dirty), clean);
    }

    #[test]
    fn a_longer_secret_is_not_broken_up_by_a_shorter_one() {
        let (short, long) = (Secret::new("abcd"), Secret::new("xxabcdxx"));
        let redactor = Redactor::new([("SHORT", &short), ("LONG", &long)]);
        assert_eq!(redactor.text("xxabcdxx abcd"), "[secret LONG] [secret SHORT]");
    }

    #[test]
    fn a_value_of_three_characters_is_left_alone() {
        assert_eq!(redactor("abc").text("abc"), "abc");
    }
}
