//! The token that clients show and the keys that deliveries are signed with. They are made when the gateway is first
//! opened, are the same on every node, and are kept in the store under the master key where there is one.

use abide_engine::vault::Vault;
use abide_engine::{Engine, Error};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::OpenError;

/// The setting of the store that holds them.
pub const SETTING: &str = "upstash-keys";
/// The user that a token names; webhook URLs have it in their path.
const USER: &str = "abide";

/// What an app needs to talk to the gateway, and to know its deliveries.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Keys {
    /// `QSTASH_TOKEN`.
    pub token: String,
    /// `QSTASH_CURRENT_SIGNING_KEY`: deliveries are signed with it.
    pub current: String,
    /// `QSTASH_NEXT_SIGNING_KEY`: it becomes the current one when keys are rotated.
    pub next: String,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl Keys {
    /// The public credentials of the vendor's development server, which `QSTASH_DEV=true` makes SDKs use.
    pub fn of_development() -> Keys {
        Keys {
            token: "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=".to_owned(),
            current: "sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r".to_owned(),
            next: "sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs".to_owned(),
        }
    }

    fn make() -> Result<Keys, OpenError> {
        // The SDK reads the user out of the token when it makes the URL of a webhook.
        let token = json!({ "UserID": USER, "Password": secret(24)? }).to_string();
        Ok(Keys { token: STANDARD.encode(token), current: signing_key()?, next: signing_key()? })
    }

    /// The keys of the store; they are made if there are none yet.
    pub(crate) async fn of(engine: &Engine) -> Result<Keys, OpenError> {
        loop {
            if let Some(stored) = engine.admin().setting(SETTING).await? {
                return Keys::read(engine.vault(), &stored);
            }
            let made = Keys::make()?;
            if engine.admin().change_setting(SETTING, None, made.sealed(engine.vault())?).await? {
                return Ok(made);
            }
        }
    }

    /// Makes the next signing key the current one. Apps that know both go on without a change.
    pub(crate) async fn rotate(engine: &Engine) -> Result<Keys, OpenError> {
        loop {
            let stored = engine.admin().setting(SETTING).await?;
            let Some(was) = stored else { return Keys::of(engine).await };
            let keys = Keys::read(engine.vault(), &was)?;
            let rotated = Keys { token: keys.token, current: keys.next, next: signing_key()? };
            if engine.admin().change_setting(SETTING, Some(was), rotated.sealed(engine.vault())?).await? {
                return Ok(rotated);
            }
        }
    }

    /// Keys as the store holds them.
    pub fn read(vault: &Vault, stored: &[u8]) -> Result<Keys, OpenError> {
        let opened = vault.open(SETTING, &String::from_utf8_lossy(stored)).map_err(OpenError::Vault)?;
        serde_json::from_str(&opened).map_err(|_| OpenError::Keys)
    }

    fn sealed(&self, vault: &Vault) -> Result<Vec<u8>, OpenError> {
        let text = serde_json::to_string(self).expect("keys are JSON");
        Ok(vault.seal(SETTING, &text).map_err(OpenError::Vault)?.into_bytes())
    }

    /// The user that the token names.
    pub(crate) fn user(&self) -> String {
        let named = STANDARD.decode(&self.token).ok();
        let named = named.and_then(|named| serde_json::from_slice::<serde_json::Value>(&named).ok());
        named.and_then(|named| Some(named.get("UserID")?.as_str()?.to_owned())).unwrap_or_default()
    }

    /// Whether a header carries the token. It takes as long whatever is wrong with it.
    pub(crate) fn admit(&self, authorization: &str) -> bool {
        let shown = authorization.strip_prefix("Bearer ").unwrap_or_default().as_bytes();
        let token = self.token.as_bytes();
        let differ = shown.iter().zip(token).fold(0, |differ, (one, other)| differ | (one ^ other));
        differ == 0 && shown.len() == token.len()
    }
}

fn signing_key() -> Result<String, OpenError> {
    Ok(format!("sig_{}", secret(24)?))
}

/// A secret of this many random bytes, as text.
pub(crate) fn secret(bytes: usize) -> Result<String, OpenError> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).map_err(|error| OpenError::Random(error.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(random))
}

impl From<Error> for OpenError {
    fn from(error: Error) -> OpenError {
        OpenError::Engine(Box::new(error))
    }
}
