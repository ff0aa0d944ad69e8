//! How an engine is opened: what its owner may set, and the file its store is in.

use std::path::Path;

use abide_calls::http::Rule;
use abide_calls::models::{Model, Provider};
use abide_calls::signing::Keys;
use abide_calls::vault::Vault;
use abide_core::id::WorkspaceId;
use abide_core::time::Millis;
use abide_store::sqlite::Sqlite;

use super::Engine;
use crate::clock::SettableClock;
use crate::error::Error;
use crate::executor::CallSettings;
use crate::limits::Limits;
use crate::retention::Retention;

/// How an engine is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The longest that a wait may take; [`limits::WAIT`](abide_core::limits::WAIT) if absent.
    pub max_wait: Option<Millis>,
    /// A clock that the caller sets, for tests. The machine's if absent.
    pub clock: Option<SettableClock>,
    pub retention: Retention,
    /// Requests that may wait for a round; more are refused as [`Error::Overloaded`].
    pub queue: Queue,
    /// What may be called, and with what.
    pub calls: CallSettings,
    /// The master key, under which the store's own secrets are sealed.
    pub vault: Vault,
    /// Only look: no timer goes off, nobody is called, and whatever would change something is refused as
    /// [`Error::Paused`]. For a copy whose original is at work.
    pub paused: bool,
    /// How much may be under way.
    pub limits: Limits,
}

impl Options {
    /// A secret that `http` steps of the default workspace name as `{{ secret.NAME }}`, and the hosts it may be sent to:
    /// `api.example.com`, `*.example.com`, `http://10.0.0.5:8080`, or `*` for any.
    pub fn secret(
        mut self,
        name: &str,
        value: &str,
        hosts: &[&str],
    ) -> Result<Options, abide_calls::secrets::Error> {
        self.calls.secrets.insert(WorkspaceId::DEFAULT, name, value.to_owned(), hosts.iter().copied())?;
        Ok(self)
    }

    /// Who serves models, under this name.
    pub fn provider(mut self, name: &str, provider: Provider) -> Options {
        self.calls.provider(name, provider);
        self
    }

    /// A model, by the name that definitions use, and what it costs.
    pub fn model(mut self, name: &str, model: Model) -> Options {
        self.calls.model(name, model);
        self
    }

    /// Private addresses that `http` steps and handlers' URLs may reach.
    pub fn allow(mut self, rules: impl IntoIterator<Item = Rule>) -> Options {
        self.calls.allow(rules);
        self
    }

    /// A handler that is called at a URL.
    pub fn handler_url(mut self, name: &str, url: &str) -> Options {
        self.calls.handler(name, url);
        self
    }

    /// What calls are signed with.
    pub fn signing(mut self, keys: Keys) -> Options {
        self.calls.signing = Some(keys);
        self
    }

    /// A clock that the caller sets.
    pub fn clock(mut self, clock: SettableClock) -> Options {
        self.clock = Some(clock);
        self
    }

    /// Opens the store in a file, and takes up whatever was under way in it.
    pub async fn open(self, path: impl AsRef<Path>) -> Result<Engine, Error> {
        Engine::open_with(Box::new(Sqlite::open(path.as_ref())?), self).await
    }
}

/// How many requests may wait. When they are this many, the engine says so instead of letting them pile up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue(pub usize);

impl Default for Queue {
    fn default() -> Queue {
        Queue(65_536)
    }
}
