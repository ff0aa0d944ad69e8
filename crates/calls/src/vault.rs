//! What is kept under the master key: secrets that the store holds and that a copy of it must not give away.
//!
//! Each purpose has a key of its own, derived from the master key by HKDF-SHA256; what is stored is sealed with
//! AES-256-GCM, bound to its purpose. Without a master key, what is stored is what it is.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use ring::rand::{SecureRandom, SystemRandom};

/// Shorter ones could be guessed.
const SHORTEST_CHARS: usize = 32;
/// What sealed text begins with.
const MARK: &str = "sealed:1:";
const SALT: &[u8] = b"abide master key";
const KEY_BYTES: usize = 32;

/// Secrets of webhooks.
pub const WEBHOOK_SECRET: &str = "webhook secret";
/// What links and leases are signed with.
pub const LINK_SECRET: &str = "link secret";
/// What sessions of browsers are sealed with.
pub const SESSION: &str = "session";

/// The master key, and the one before it while it changes.
#[derive(Clone, Default)]
pub struct Vault {
    key: Option<Arc<Prk>>,
    old: Option<Arc<Prk>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("a master key has at least {SHORTEST_CHARS} characters; `openssl rand -base64 32` makes one")]
    TooShort,
    #[error("it is sealed under a master key, and none was given")]
    NoKey,
    #[error("it is sealed under another master key")]
    WrongKey,
    #[error("the machine gives no randomness")]
    NoRandomness,
}

impl Vault {
    pub fn new(key: &str, old: Option<&str>) -> Result<Vault, Error> {
        Ok(Vault { key: Some(master(key)?), old: old.map(master).transpose()? })
    }

    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// A key for one purpose; `None` without a master key.
    pub fn derived(&self, purpose: &str) -> Option<[u8; KEY_BYTES]> {
        self.key.as_ref().map(|master| derived(master, purpose))
    }

    /// As it is stored.
    pub fn seal(&self, purpose: &str, text: &str) -> Result<String, Error> {
        let Some(master) = &self.key else { return Ok(text.to_owned()) };
        let sealed = seal(&derived(master, purpose), purpose.as_bytes(), text.as_bytes())?;
        Ok(format!("{MARK}{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// What was stored. Text that was stored without a key is what it is.
    pub fn open(&self, purpose: &str, stored: &str) -> Result<String, Error> {
        let Some(sealed) = stored.strip_prefix(MARK) else { return Ok(stored.to_owned()) };
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| Error::WrongKey)?;
        if self.key.is_none() {
            return Err(Error::NoKey);
        }
        let keys = self.key.iter().chain(&self.old);
        let opened =
            keys.into_iter().find_map(|master| open(&derived(master, purpose), purpose.as_bytes(), &sealed));
        opened.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(Error::WrongKey)
    }

    /// Whether something is stored as [`Vault::seal`] would store it now.
    pub fn is_current(&self, purpose: &str, stored: &str) -> bool {
        match (&self.key, stored.strip_prefix(MARK)) {
            (None, sealed) => sealed.is_none(),
            (Some(_), None) => false,
            (Some(master), Some(sealed)) => URL_SAFE_NO_PAD
                .decode(sealed)
                .is_ok_and(|sealed| open(&derived(master, purpose), purpose.as_bytes(), &sealed).is_some()),
        }
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.has_key() { "Vault with a key" } else { "Vault without a key" })
    }
}

fn master(key: &str) -> Result<Arc<Prk>, Error> {
    let key = key.trim();
    if key.chars().count() < SHORTEST_CHARS {
        return Err(Error::TooShort);
    }
    Ok(Arc::new(Salt::new(HKDF_SHA256, SALT).extract(key.as_bytes())))
}

fn derived(master: &Prk, purpose: &str) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    let info = [purpose.as_bytes()];
    let expanded = master.expand(&info, HKDF_SHA256).and_then(|okm| okm.fill(&mut key));
    expanded.expect("32 bytes are what HKDF-SHA256 gives");
    key
}

/// Seals bytes with a key, bound to what they are for: a nonce, and what it was sealed to.
pub fn seal(key: &[u8; KEY_BYTES], purpose: &[u8], content: &[u8]) -> Result<Vec<u8>, Error> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).map_err(|_| Error::NoRandomness)?;
    let mut sealed = content.to_vec();
    let nonce_used = Nonce::assume_unique_for_key(nonce);
    cipher(key).seal_in_place_append_tag(nonce_used, Aad::from(purpose), &mut sealed).expect("it is short");
    Ok([&nonce[..], &sealed].concat())
}

/// What was sealed with this key for this purpose.
pub fn open(key: &[u8; KEY_BYTES], purpose: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
    let mut content = sealed.to_vec();
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = cipher(key).open_in_place(nonce, Aad::from(purpose), &mut content).ok()?;
    Some(opened.to_vec())
}

fn cipher(key: &[u8; KEY_BYTES]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("32 bytes are a key of AES-256"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";
    const OTHER: &str = "another master key of good length";

    #[test]
    fn what_is_sealed_opens_with_the_same_key_for_the_same_purpose_only() {
        let vault = Vault::new(KEY, None).unwrap();
        let sealed = vault.seal(LINK_SECRET, "s3cr3t").unwrap();
        assert!(!sealed.contains("s3cr3t") && vault.is_current(LINK_SECRET, &sealed));
        assert_eq!(vault.open(LINK_SECRET, &sealed).unwrap(), "s3cr3t");
        assert_eq!(vault.open(WEBHOOK_SECRET, &sealed), Err(Error::WrongKey));
        assert_eq!(Vault::new(OTHER, None).unwrap().open(LINK_SECRET, &sealed), Err(Error::WrongKey));
        assert_eq!(Vault::default().open(LINK_SECRET, &sealed), Err(Error::NoKey));
        assert_ne!(vault.derived(SESSION), vault.derived(LINK_SECRET));
    }

    #[test]
    fn a_key_that_changes_opens_what_the_one_before_sealed() {
        let sealed = Vault::new(KEY, None).unwrap().seal(LINK_SECRET, "s3cr3t").unwrap();
        let changing = Vault::new(OTHER, Some(KEY)).unwrap();
        assert_eq!(changing.open(LINK_SECRET, &sealed).unwrap(), "s3cr3t");
        assert!(!changing.is_current(LINK_SECRET, &sealed));
        let again = changing.seal(LINK_SECRET, "s3cr3t").unwrap();
        assert_eq!(Vault::new(OTHER, None).unwrap().open(LINK_SECRET, &again).unwrap(), "s3cr3t");
    }

    #[test]
    fn without_a_key_things_are_what_they_are() {
        let plain = Vault::default();
        assert_eq!(plain.seal(LINK_SECRET, "s").unwrap(), "s");
        assert!(plain.is_current(LINK_SECRET, "s") && plain.derived(SESSION).is_none());
        let vault = Vault::new(KEY, None).unwrap();
        assert_eq!(vault.open(LINK_SECRET, "s").unwrap(), "s");
        assert!(!vault.is_current(LINK_SECRET, "s"));
        assert_eq!(Vault::new("short", None).unwrap_err(), Error::TooShort);
    }

    #[test]
    fn nothing_of_it_can_be_changed() {
        let vault = Vault::new(KEY, None).unwrap();
        let sealed = vault.seal(LINK_SECRET, "s3cr3t").unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(MARK).unwrap()).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let changed = format!("{MARK}{}", URL_SAFE_NO_PAD.encode(changed));
            assert_eq!(vault.open(LINK_SECRET, &changed), Err(Error::WrongKey));
        }
    }
}
