//! Resume links and lease tokens: what lets a caller without a key do one thing to one waitpoint, and a worker report
//! on one task. A token is signed with a secret of the store. The newest secret signs and all of them verify, so that a
//! new one breaks no link that is out there; one that has leaked is retired. Nothing of a token is stored.

mod secret;
mod token;
mod urls;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use abide_engine::Engine;
use abide_engine::vault::Vault;

pub(crate) use secret::Secret;
pub(crate) use token::{Link, Target};
pub(crate) use urls::{ApprovalLink, Wanted};

use crate::problem::{Code, Problem};

/// The query parameter that carries a token.
pub(crate) const TOKEN: &str = "token";
/// The store's setting that holds the secrets.
const SETTING: &str = "link-secrets";
/// How often secrets that other nodes made or retired are looked for.
const FOLLOW: Duration = Duration::from_secs(1);

pub(crate) struct Links {
    /// The newest last. It signs, and all of them verify.
    secrets: RwLock<Arc<[Secret]>>,
}

impl Links {
    /// The secrets of the store; the first one is made here.
    pub(crate) async fn open(engine: &Engine) -> Result<Links, Problem> {
        let bytes = engine.admin().setting(SETTING).await?;
        let links = Links::of(read(engine.vault(), bytes.as_deref())?);
        if links.secrets().is_empty() {
            links.rotate(engine).await?;
        }
        if bytes.is_some_and(|bytes| !secret::are_current(&bytes, engine.vault())) {
            // Nothing changes but how they are stored.
            links.change(engine, |_| {}).await?;
        }
        Ok(links)
    }

    fn of(secrets: Vec<Secret>) -> Links {
        Links { secrets: RwLock::new(secrets.into()) }
    }

    /// The secrets that verify, the oldest first.
    pub(crate) fn secrets(&self) -> Arc<[Secret]> {
        Arc::clone(&self.secrets.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn know(&self, secrets: Vec<Secret>) {
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = secrets.into();
    }

    /// Where other nodes make and retire secrets, too: knows of theirs soon, for as long as it is asked to.
    pub(crate) async fn follow(&self, engine: &Engine) {
        while engine.is_shared() {
            tokio::time::sleep(FOLLOW).await;
            // If the store is away, the next time will do.
            if let Ok(secrets) = stored(engine).await {
                self.know(secrets);
            }
        }
    }

    /// One that another node has just made is looked up.
    async fn secret(&self, engine: &Engine, id: u32) -> Option<Secret> {
        let find = || self.secrets().iter().find(|known| known.id == id).cloned();
        if find().is_none() && engine.is_shared() {
            self.know(stored(engine).await.ok()?);
        }
        find()
    }

    fn newest(&self) -> Secret {
        self.secrets().last().expect("there is a secret from the start").clone()
    }

    /// From here on links are signed with a new secret. Those that are out there stay valid.
    pub(crate) async fn rotate(&self, engine: &Engine) -> Result<(), Problem> {
        let made = Secret::make(engine.now())?;
        let add = move |secrets: &mut Vec<Secret>| {
            let id = secrets.last().map_or(1, |last| last.id + 1);
            secrets.push(made.numbered(id));
        };
        // If another node was first, its secret is as good as this one.
        self.change(engine, add).await.map(|_| ())
    }

    /// Makes every token that was signed with a secret invalid. The newest one is replaced. Says whether there was one.
    pub(crate) async fn retire(&self, engine: &Engine, id: u32) -> Result<bool, Problem> {
        let made = Secret::make(engine.now())?;
        let retire = move |secrets: &mut Vec<Secret>| {
            let newest = secrets.last().map(|last| last.id);
            if newest == Some(id) {
                secrets.push(made.clone().numbered(id + 1));
            }
            secrets.retain(|secret| secret.id != id);
        };
        loop {
            if !self.secrets().iter().any(|secret| secret.id == id) {
                return Ok(false);
            }
            if self.change(engine, retire.clone()).await? {
                return Ok(true);
            }
        }
    }

    /// Changes the secrets of the store, unless another node was first, and knows those that are there after it.
    async fn change(&self, engine: &Engine, change: impl FnOnce(&mut Vec<Secret>)) -> Result<bool, Problem> {
        let was = engine.admin().setting(SETTING).await?;
        let mut secrets = read(engine.vault(), was.as_deref())?;
        change(&mut secrets);
        let written =
            secret::write(&secrets, engine.vault()).map_err(|error| unreadable(&error.to_string()))?;
        let changed = engine.admin().change_setting(SETTING, was, written).await?;
        let secrets = if changed { secrets } else { stored(engine).await? };
        self.know(secrets);
        Ok(changed)
    }

    pub(crate) fn token(&self, target: Target<'_>, link: &Link) -> String {
        token::write(&self.newest(), target, link)
    }

    /// The link, if the token was made for this target and its time is not over.
    pub(crate) async fn check(
        &self,
        engine: &Engine,
        target: Target<'_>,
        token: &str,
    ) -> Result<Link, Problem> {
        let id = token.split('.').next().and_then(|id| id.parse().ok());
        let secret = match id {
            Some(id) => self.secret(engine, id).await,
            None => None,
        };
        let link = secret.and_then(|secret| token::read(&secret, target, token)).ok_or_else(|| {
            Problem::new(Code::BadLink, "the token of this URL is not one that this server made for it")
        })?;
        match link.expires_at() {
            Some(at) if engine.now() >= at => {
                Err(Problem::new(Code::LinkExpired, format!("this link was good until {at}")))
            }
            Some(_) | None => Ok(link),
        }
    }

    /// Signs something else that leaves the server and comes back.
    pub(crate) fn seal(&self, what: &str, content: &[u8]) -> String {
        self.newest().seal(what, content)
    }

    pub(crate) async fn unseal(&self, engine: &Engine, what: &str, sealed: &str) -> Option<Vec<u8>> {
        let (id, rest) = secret::opened(sealed)?;
        self.secret(engine, id).await?.unsealed(what, &rest)
    }
}

async fn stored(engine: &Engine) -> Result<Vec<Secret>, Problem> {
    let bytes = engine.admin().setting(SETTING).await?;
    read(engine.vault(), bytes.as_deref())
}

fn read(vault: &Vault, setting: Option<&[u8]>) -> Result<Vec<Secret>, Problem> {
    secret::read(setting, vault).map_err(|why| unreadable(&why))
}

fn unreadable(why: &str) -> Problem {
    tracing::error!(error = why, "the store's link secrets cannot be read");
    Problem::new(Code::StoreUnavailable, "the store's link secrets cannot be read")
}

pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), Problem> {
    getrandom::fill(bytes).map_err(|error| {
        tracing::error!(%error, "the machine gives no randomness");
        Problem::new(Code::Internal, "the machine gives no randomness")
    })
}
