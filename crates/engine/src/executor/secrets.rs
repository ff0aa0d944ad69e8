//! Puts secrets where a rendered request has places for them, right before the call.

use abide_calls::secrets::{self, Hosts, Kept, Redactor, Secrets};
use abide_core::expression::{SecretPlace, placeholder};
use abide_core::id::WorkspaceId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

const URL: &str = "/url";
/// The characters that stay as they are in a part of a URL.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A request with its secrets, and what redacts them in whatever comes back.
pub(super) struct Filled {
    pub(super) request: Value,
    pub(super) redactor: Redactor,
    /// The names of the secrets that the request carries, and the hosts each may be sent to.
    pub(super) secrets: Vec<(String, Hosts)>,
}

pub(super) fn fill(
    request: &Value,
    places: &[SecretPlace],
    secrets: &Secrets,
    workspace: WorkspaceId,
) -> Result<Filled, secrets::Error> {
    let mut request = request.clone();
    let mut used: Vec<(&str, &Kept)> = Vec::new();
    let mut places: Vec<&SecretPlace> = places.iter().collect();
    // From the end, so that the places before stay where they are.
    places.sort_by(|one, other| (&other.pointer, other.at).cmp(&(&one.pointer, one.at)));
    for SecretPlace { pointer, at, name } in places {
        let kept = secrets.get(workspace, name)?;
        used.push((name, kept));
        let secret = &kept.value;
        let Some(Value::String(text)) = request.pointer_mut(pointer) else { continue };
        let end = at + placeholder(name).len();
        if text.get(*at..end).is_some() {
            // A secret in the middle of a URL is a part of it, one at its beginning is the URL.
            let value = if pointer == URL && *at > 0 {
                utf8_percent_encode(secret.expose(), KEPT).to_string()
            } else {
                secret.expose().to_owned()
            };
            text.replace_range(*at..end, &value);
        }
    }
    let redactor = Redactor::new(used.iter().map(|(name, kept)| (*name, &kept.value)));
    let secrets = used.iter().map(|(name, kept)| ((*name).to_owned(), kept.hosts.clone())).collect();
    Ok(Filled { request, redactor, secrets })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        let mut insert = |name: &str, value: &str| {
            secrets.insert(WorkspaceId::DEFAULT, name, value.to_owned(), ["*"]).unwrap();
        };
        insert("KEY", "a/b c");
        insert("HOOK", "https://hooks.example.com/x");
        secrets
    }

    fn place(pointer: &str, at: usize, name: &str) -> SecretPlace {
        SecretPlace { pointer: pointer.to_owned(), at, name: name.to_owned() }
    }

    #[test]
    fn every_place_is_filled_and_nothing_that_only_looks_like_one() {
        let request = json!({
            "url": "https://x/?k=[secret KEY]&l=[secret KEY]",
            "headers": {"a": "Bearer [secret KEY]", "b": "[secret KEY]"},
        });
        let places = [place("/url", 13, "KEY"), place("/url", 28, "KEY"), place("/headers/a", 7, "KEY")];
        let filled = fill(&request, &places, &secrets(), WorkspaceId::DEFAULT).unwrap();
        assert_eq!(
            filled.request,
            json!({
                "url": "https://x/?k=a%2Fb%20c&l=a%2Fb%20c",
                "headers": {"a": "Bearer a/b c", "b": "[secret KEY]"},
            })
        );
        assert_eq!(filled.redactor.text("got a/b c"), "got [secret KEY]");
    }

    #[test]
    fn a_url_may_be_a_secret_as_a_whole() {
        let (request, places) = (json!({"url": "[secret HOOK]"}), [place("/url", 0, "HOOK")]);
        let filled = fill(&request, &places, &secrets(), WorkspaceId::DEFAULT).unwrap();
        assert_eq!(filled.request["url"], "https://hooks.example.com/x");
    }

    #[test]
    fn a_secret_that_is_not_there_is_named() {
        for (name, workspace) in [("NO", WorkspaceId::DEFAULT), ("KEY", WorkspaceId(1))] {
            let request = json!({ "url": format!("[secret {name}]") });
            let error = fill(&request, &[place("/url", 0, name)], &secrets(), workspace).err().unwrap();
            assert_eq!(error.code(), "SECRET_UNKNOWN");
        }
    }
}
