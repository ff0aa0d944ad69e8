//! What tokens are signed with. Each purpose has a key of its own, derived from the secret, so that what was signed for
//! one counts for no other.

use abide_engine::vault::{self, LINK_SECRET, Vault};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::fill;
use crate::problem::Problem;

const SECRET_BYTES: usize = 32;

/// Stored sealed, where there is a master key.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Secret {
    pub(crate) id: u32,
    secret: String,
    pub(crate) created_at: Timestamp,
}

/// All of them, as they are stored.
pub(super) fn write(secrets: &[Secret], vault: &Vault) -> Result<Vec<u8>, vault::Error> {
    let sealed = secrets
        .iter()
        .map(|secret| Ok(Secret { secret: vault.seal(LINK_SECRET, &secret.secret)?, ..secret.clone() }));
    let sealed: Vec<Secret> = sealed.collect::<Result<_, vault::Error>>()?;
    Ok(serde_json::to_vec(&sealed).expect("secrets are JSON"))
}

/// All of them, from what is stored.
pub(super) fn read(stored: Option<&[u8]>, vault: &Vault) -> Result<Vec<Secret>, String> {
    let Some(stored) = stored else { return Ok(Vec::new()) };
    let sealed: Vec<Secret> = serde_json::from_slice(stored).map_err(|error| error.to_string())?;
    let opened = sealed
        .into_iter()
        .map(|secret| Ok(Secret { secret: vault.open(LINK_SECRET, &secret.secret)?, ..secret }));
    opened.collect::<Result<_, vault::Error>>().map_err(|error| error.to_string())
}

/// Whether what is stored is sealed under the present master key, or in clear where there is none.
pub(super) fn are_current(stored: &[u8], vault: &Vault) -> bool {
    serde_json::from_slice::<Vec<Secret>>(stored)
        .is_ok_and(|secrets| secrets.iter().all(|secret| vault.is_current(LINK_SECRET, &secret.secret)))
}

impl Secret {
    /// The first one.
    pub(super) fn make(now: Timestamp) -> Result<Secret, Problem> {
        let mut bytes = [0; SECRET_BYTES];
        fill(&mut bytes)?;
        Ok(Secret { id: 1, secret: URL_SAFE_NO_PAD.encode(bytes), created_at: now })
    }

    pub(super) fn numbered(self, id: u32) -> Secret {
        Secret { id, ..self }
    }

    /// Every part is preceded by its length, so that no two lists of parts are the same text.
    pub(super) fn mac(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let keyed = |key: &[u8]| Hmac::<Sha256>::new_from_slice(key).expect("any length is a key");
        let mut key = keyed(self.secret.as_bytes());
        key.update(b"abide ");
        key.update(purpose.as_bytes());
        let mut mac = keyed(&key.finalize().into_bytes());
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }

    pub(super) fn seal(&self, what: &str, content: &[u8]) -> String {
        let mac = self.mac(what, &[content]).finalize().into_bytes();
        URL_SAFE_NO_PAD.encode([&self.id.to_be_bytes()[..], content, &mac[..]].concat())
    }

    /// What was sealed, without the number of its secret.
    pub(super) fn unsealed(&self, what: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (content, mac) = sealed.split_last_chunk::<32>()?;
        // Compares in constant time.
        self.mac(what, &[content]).verify_slice(mac).ok()?;
        Some(content.to_vec())
    }
}

/// The number of the secret that something was sealed with, and the rest.
pub(super) fn opened(sealed: &str) -> Option<(u32, Vec<u8>)> {
    let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let (id, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*id), rest.to_vec()))
}

#[cfg(test)]
pub(super) fn numbered(id: u32) -> Secret {
    Secret { id, secret: format!("secret {id}"), created_at: Timestamp::UNIX_EPOCH }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_for_one_purpose_does_not_open_for_another() {
        let (id, sealed) = opened(&numbered(2).seal("lease", b"task 7")).unwrap();
        assert_eq!(id, 2);
        assert_eq!(numbered(2).unsealed("lease", &sealed).as_deref(), Some(&b"task 7"[..]));
        assert_eq!(numbered(2).unsealed("cursor", &sealed), None);
        assert_eq!(numbered(1).unsealed("lease", &sealed), None);
        assert_eq!(numbered(2).unsealed("lease", b"AAAA"), None);
    }
}
