//! The identity of a store. A backup is stamped with an id of its own when it is taken, so that what a copy does is
//! told apart from what its original does.

use abide_store::{COPY_OF, STORE_ID, Store};

use crate::error::Error;

/// The id of the store; a store without one gets it here.
pub(crate) fn of(store: &mut dyn Store, random: u128) -> Result<String, Error> {
    loop {
        if let Some(id) = store.setting(STORE_ID)? {
            let id = String::from_utf8_lossy(&id).into_owned();
            if let Some(original) = store.setting(COPY_OF)? {
                let original = String::from_utf8_lossy(&original);
                tracing::warn!(store = id, %original, "this store is a copy; what it does is done beside its original");
            }
            return Ok(id);
        }
        // If another node was first, its id is the one.
        store.change_setting(STORE_ID, None, format!("{random:032x}").as_bytes())?;
    }
}
