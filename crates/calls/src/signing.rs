//! Signatures of Standard Webhooks: who receives a call can tell that it is ours, whole, and not an old one again.
//!
//! What is signed is `id.timestamp.body`, with HMAC-SHA256. While keys change, a call carries one signature for each.

use abide_core::id::WorkspaceId;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub const ID: &str = "webhook-id";
pub const TIMESTAMP: &str = "webhook-timestamp";
pub const SIGNATURE: &str = "webhook-signature";

const PREFIX: &str = "whsec_";
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// How far the clocks of sender and receiver may be apart.
pub const TOLERANCE_S: i64 = 5 * 60;
/// Keys of one sender at the same time.
pub const KEYS: usize = 5;

/// The keys of one sender, the newest first.
#[derive(Clone)]
pub struct Keys(Vec<Vec<u8>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("a key is `whsec_` and base64 after it")]
    NotBase64,
    #[error("a key has 24 to 64 bytes")]
    BadLength,
    #[error("there is no key")]
    None,
    #[error("there are more than {KEYS} keys (KEYS)")]
    TooMany,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("`{TIMESTAMP}` is not a number of seconds")]
    BadTimestamp,
    #[error("`{TIMESTAMP}` is more than {TOLERANCE_S} s in the past: the call may be an old one, sent again")]
    TooOld,
    #[error("`{TIMESTAMP}` is more than {TOLERANCE_S} s in the future")]
    TooNew,
    #[error("no signature in `{SIGNATURE}` is of this call and of a key that is known")]
    NotSigned,
}

impl Keys {
    pub fn new<'k>(keys: impl IntoIterator<Item = &'k str>) -> Result<Keys, KeyError> {
        let keys: Vec<Vec<u8>> = keys.into_iter().map(key).collect::<Result<_, _>>()?;
        match keys.len() {
            0 => Err(KeyError::None),
            1..=KEYS => Ok(Keys(keys)),
            _ => Err(KeyError::TooMany),
        }
    }

    /// The keys of a workspace: the default one has these, every other one has keys derived from them. Who has a derived
    /// key can tell what is of its workspace, and can sign for no other.
    pub fn of_workspace(&self, workspace: WorkspaceId) -> Keys {
        if workspace == WorkspaceId::DEFAULT {
            return self.clone();
        }
        let derived = self.0.iter().map(|key| {
            let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length is a key");
            mac.update(b"abide signing key of ");
            mac.update(workspace.to_string().as_bytes());
            mac.finalize().into_bytes().to_vec()
        });
        Keys(derived.collect())
    }

    /// As they are given to receivers, the newest first.
    pub fn written(&self) -> Vec<String> {
        self.0.iter().map(|key| format!("{PREFIX}{}", STANDARD.encode(key))).collect()
    }

    /// The value of `webhook-signature`.
    pub fn sign(&self, id: &str, timestamp_s: i64, body: &[u8]) -> String {
        let signed = self.0.iter().map(|key| {
            format!(
                "v1,{}",
                STANDARD.encode(mac(key, id, &timestamp_s.to_string(), body).finalize().into_bytes())
            )
        });
        signed.collect::<Vec<_>>().join(" ")
    }

    /// Takes the three headers as they came.
    pub fn verify(
        &self,
        id: &str,
        timestamp: &str,
        signature: &str,
        body: &[u8],
        now_s: i64,
    ) -> Result<(), Refused> {
        let sent: i64 = timestamp.parse().map_err(|_| Refused::BadTimestamp)?;
        if sent < now_s.saturating_sub(TOLERANCE_S) {
            return Err(Refused::TooOld);
        }
        if sent > now_s.saturating_add(TOLERANCE_S) {
            return Err(Refused::TooNew);
        }
        let given = signature.split(' ').filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
        for given in given {
            for key in &self.0 {
                // Compares in constant time.
                if mac(key, id, timestamp, body).verify_slice(&given).is_ok() {
                    return Ok(());
                }
            }
        }
        Err(Refused::NotSigned)
    }
}

/// A new key, from bytes that nobody can guess.
pub fn new_key(random: [u8; 32]) -> String {
    format!("{PREFIX}{}", STANDARD.encode(random))
}

fn key(written: &str) -> Result<Vec<u8>, KeyError> {
    let key =
        STANDARD.decode(written.strip_prefix(PREFIX).unwrap_or(written)).map_err(|_| KeyError::NotBase64)?;
    if KEY_BYTES.contains(&key.len()) { Ok(key) } else { Err(KeyError::BadLength) }
}

fn mac(key: &[u8], id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    mac
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The published example of the standard.
    const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const MESSAGE: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNED: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[test]
    fn the_published_example_is_signed_as_published() {
        let keys = Keys::new([KEY]).unwrap();
        assert_eq!(keys.sign(MESSAGE, AT, BODY), SIGNED);
        assert_eq!(keys.verify(MESSAGE, &AT.to_string(), SIGNED, BODY, AT), Ok(()));
        assert_eq!(Keys::new([&KEY[PREFIX.len()..]]).unwrap().sign(MESSAGE, AT, BODY), SIGNED);
    }

    #[test]
    fn while_keys_change_both_the_old_and_the_new_one_verify() {
        let new = new_key([7; 32]);
        let both = Keys::new([new.as_str(), KEY]).unwrap().sign(MESSAGE, AT, BODY);
        assert_eq!(both.split(' ').count(), 2);
        for known in [KEY, new.as_str()] {
            let keys = Keys::new([known]).unwrap();
            assert_eq!(keys.verify(MESSAGE, &AT.to_string(), &both, BODY, AT), Ok(()));
        }
    }

    #[test]
    fn a_workspace_has_keys_of_its_own_and_signs_for_no_other() {
        let server = Keys::new([KEY]).unwrap();
        let (one, other) = (server.of_workspace(WorkspaceId(1)), server.of_workspace(WorkspaceId(2)));
        let signed = one.sign(MESSAGE, AT, BODY);
        let check = |keys: &Keys| keys.verify(MESSAGE, &AT.to_string(), &signed, BODY, AT);
        assert_eq!(check(&one), Ok(()));
        assert_eq!((check(&server), check(&other)), (Err(Refused::NotSigned), Err(Refused::NotSigned)));
        let given = one.written();
        assert_eq!(check(&Keys::new(given.iter().map(String::as_str)).unwrap()), Ok(()));
        assert_eq!(server.of_workspace(WorkspaceId::DEFAULT).sign(MESSAGE, AT, BODY), SIGNED);
    }

    #[test]
    fn whatever_is_changed_is_noticed() {
        let keys = Keys::new([KEY]).unwrap();
        let at = AT.to_string();
        let check =
            |id: &str, at: &str, signature: &str, body: &[u8], now| keys.verify(id, at, signature, body, now);
        assert_eq!(check("msg_x", &at, SIGNED, BODY, AT), Err(Refused::NotSigned));
        assert_eq!(check(MESSAGE, "1614265331", SIGNED, BODY, AT), Err(Refused::NotSigned));
        assert_eq!(check(MESSAGE, &at, SIGNED, b"{}", AT), Err(Refused::NotSigned));
        assert_eq!(check(MESSAGE, &at, "", BODY, AT), Err(Refused::NotSigned));
        assert_eq!(check(MESSAGE, &at, &SIGNED.replace("v1", "v2"), BODY, AT), Err(Refused::NotSigned));
        assert_eq!(check(MESSAGE, &at, SIGNED, BODY, AT + TOLERANCE_S + 1), Err(Refused::TooOld));
        assert_eq!(check(MESSAGE, &at, SIGNED, BODY, AT - TOLERANCE_S - 1), Err(Refused::TooNew));
        assert_eq!(check(MESSAGE, "now", SIGNED, BODY, AT), Err(Refused::BadTimestamp));
    }

    #[test]
    fn a_bad_key_is_refused() {
        assert_eq!(Keys::new(["whsec_?"]).unwrap_err(), KeyError::NotBase64);
        assert_eq!(Keys::new(["whsec_AAAA"]).unwrap_err(), KeyError::BadLength);
        assert_eq!(Keys::new([]).unwrap_err(), KeyError::None);
        assert_eq!(Keys::new([KEY; KEYS + 1]).unwrap_err(), KeyError::TooMany);
    }
}
