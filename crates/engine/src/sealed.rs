//! What the store holds under the master key: that it is the right one is found out when the engine is opened, and what
//! was stored without it, or under the one before it, is sealed under it then.

use abide_calls::vault::{self, Vault, WEBHOOK_SECRET};
use abide_store::{Secret, Store};

use crate::error::Error;

/// The store's setting that only the right master key opens.
const CHECK: &str = "master-key-check";
const CHECKED: &str = "abide";

/// Refuses a store that is sealed under another master key, or under one and none was given.
pub(crate) fn check(store: &mut dyn Store, vault: &Vault) -> Result<(), Error> {
    loop {
        let was = store.setting(CHECK)?;
        let stored = was.as_deref().map(String::from_utf8_lossy);
        if let Some(stored) = &stored {
            vault.open(CHECK, stored).map_err(|error| not_opened(&error))?;
        }
        let is_current = stored.as_ref().is_some_and(|stored| vault.is_current(CHECK, stored));
        if !vault.has_key() || is_current {
            break;
        }
        let sealed = vault.seal(CHECK, CHECKED).map_err(|error| not_opened(&error))?;
        // If another node was first, what it wrote is looked at.
        if store.change_setting(CHECK, was.as_deref(), sealed.as_bytes())? {
            break;
        }
    }
    for mut webhook in store.webhooks(None)? {
        if webhook.secrets.iter().all(|secret| vault.is_current(WEBHOOK_SECRET, &secret.key)) {
            continue;
        }
        for Secret { key, .. } in &mut webhook.secrets {
            let plain = vault.open(WEBHOOK_SECRET, key).map_err(|error| not_opened(&error))?;
            *key = vault.seal(WEBHOOK_SECRET, &plain).map_err(|error| not_opened(&error))?;
        }
        store.put_webhook(&webhook)?;
    }
    Ok(())
}

fn not_opened(error: &vault::Error) -> Error {
    let what_to_do = match error {
        vault::Error::NoKey => "give it with ABIDE_MASTER_KEY or --master-key-file",
        vault::Error::WrongKey => {
            "give the one it was sealed under, or, to change it, the new one with the one before as ABIDE_OLD_MASTER_KEY"
        }
        vault::Error::TooShort | vault::Error::NoRandomness => "nothing was changed",
    };
    Error::MasterKey(format!("the store cannot be opened: {error}; {what_to_do}"))
}
