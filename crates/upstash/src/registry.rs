//! What clients set up by name, queues and URL groups: each kind is one setting of the store, compared and set.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Gateway;
use crate::routes::Problem;

/// How many queues, and how many URL groups, there may be.
const NAMES: usize = 1_000;
/// How often a change is tried because another one came first.
const TRIES: usize = 20;

/// A kind of things that are set up by name.
pub(crate) trait Registered: Serialize + DeserializeOwned {
    const SETTING: &'static str;
}

/// A queue: how many of its messages are delivered at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Queue {
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) parallelism: u32,
    /// The pause under which nothing is delivered: the instant at which it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paused_at: Option<i64>,
}

impl Registered for Queue {
    const SETTING: &'static str = "upstash-queues";
}

/// A URL group: a message to it goes to each of its endpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Group {
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) endpoints: Vec<Endpoint>,
}

/// A member of a URL group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) url: String,
}

impl Registered for Group {
    const SETTING: &'static str = "upstash-url-groups";
}

impl Gateway {
    /// All things of a kind, by name.
    pub(crate) async fn registered<T: Registered>(&self) -> Result<BTreeMap<String, T>, Problem> {
        read(self.engine.admin().setting(T::SETTING).await?.as_deref())
    }

    /// The thing of a name.
    pub(crate) async fn registered_as<T: Registered>(&self, name: &str) -> Result<Option<T>, Problem> {
        Ok(self.registered::<T>().await?.remove(name))
    }

    /// Changes the things of a kind. The function may be called more than once, if another change came first.
    pub(crate) async fn change_registered<T: Registered, R>(
        &self,
        change: impl Fn(&mut BTreeMap<String, T>) -> Result<R, Problem>,
    ) -> Result<R, Problem> {
        for _ in 0..TRIES {
            let was = self.engine.admin().setting(T::SETTING).await?;
            let mut all: BTreeMap<String, T> = read(was.as_deref())?;
            let changed = change(&mut all)?;
            if all.len() > NAMES {
                let message = format!("there are at most {NAMES} of them (NAMES)");
                return Err(Problem::new(StatusCode::PRECONDITION_FAILED, message));
            }
            let written = serde_json::to_vec(&all).expect("it is JSON");
            if was.as_ref() == Some(&written)
                || self.engine.admin().change_setting(T::SETTING, was, written).await?
            {
                return Ok(changed);
            }
        }
        Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "it changes all the time; try again"))
    }
}

fn read<T: Registered>(stored: Option<&[u8]>) -> Result<BTreeMap<String, T>, Problem> {
    let Some(stored) = stored else { return Ok(BTreeMap::new()) };
    serde_json::from_slice(stored).map_err(|error| {
        let message = format!("the setting `{}` of the store cannot be read: {error}", T::SETTING);
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    })
}
