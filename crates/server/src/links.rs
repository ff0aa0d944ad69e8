//! Resume links and lease tokens: what lets a caller without a key do one thing to one waitpoint, and a worker report
//! on one task. A token is an HMAC under a secret of the store; the store holds all secrets there ever were, so that
//! a new one breaks no link that is out there. Nothing of a token is stored.

mod urls;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use abide_core::id::{RunId, WaitpointId};
use abide_engine::Engine;
use abide_store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::problem::{Code, Problem};

/// The query parameter that carries a token.
pub(crate) const TOKEN: &str = "token";
/// The store's setting that holds the secrets.
const SETTING: &str = "link-secrets";
const SECRET_BYTES: usize = 32;
/// How often secrets that other nodes made are looked for.
const FOLLOW: Duration = Duration::from_secs(1);
const RECIPIENT_CHARS: usize = 200;

pub(crate) struct Links {
    /// The newest last. It signs, and all of them verify.
    secrets: RwLock<Arc<[Secret]>>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Secret {
    id: u32,
    secret: String,
}

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'t> {
    Waitpoint(WaitpointId),
    /// The wait of a step, begun or not.
    Step(RunId, &'t str),
}

/// A link that was made by this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Valid while the waitpoint's links have this generation.
    pub(crate) generation: u32,
    /// Whom it was made for, if for one person.
    pub(crate) recipient: Option<String>,
}

impl Links {
    /// The secrets of the store; the first one is made here.
    pub(crate) async fn open(engine: &Engine) -> Result<Links, Problem> {
        let links = Links::of(stored(engine).await?);
        if links.secrets().is_empty() {
            links.rotate(engine).await?;
        }
        Ok(links)
    }

    fn of(secrets: Vec<Secret>) -> Links {
        Links { secrets: RwLock::new(secrets.into()) }
    }

    fn secrets(&self) -> Arc<[Secret]> {
        Arc::clone(&self.secrets.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn know(&self, secrets: Vec<Secret>) {
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = secrets.into();
    }

    /// Where other nodes make secrets, too: signs with theirs soon, for as long as it is asked to.
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
        let mut bytes = [0; SECRET_BYTES];
        fill(&mut bytes)?;
        let secret = URL_SAFE_NO_PAD.encode(bytes);
        let add = move |store: &mut dyn Store| {
            let was = store.setting(SETTING)?;
            let mut secrets = read(was.as_deref()).map_err(|_| unreadable())?;
            let id = secrets.last().map_or(1, |last| last.id + 1);
            secrets.push(Secret { id, secret });
            let written = serde_json::to_vec(&secrets).expect("secrets are JSON");
            // If another node was first, its secret is as good as this one.
            let added = store.change_setting(SETTING, was.as_deref(), &written)?;
            let found = if added { Some(written) } else { store.setting(SETTING)? };
            read(found.as_deref()).map_err(|_| unreadable())
        };
        let secrets = engine.write(add).await?;
        self.know(secrets);
        Ok(())
    }

    pub(crate) fn token(&self, target: Target<'_>, link: &Link) -> String {
        let newest = self.newest();
        let mac = URL_SAFE_NO_PAD.encode(resume_mac(&newest, target, link).finalize().into_bytes());
        let token = format!("{}.{}.{mac}", newest.id, link.generation);
        match &link.recipient {
            None => token,
            Some(recipient) => format!("{token}.{}", URL_SAFE_NO_PAD.encode(recipient)),
        }
    }

    /// Whether the token was made for this target.
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
        secret.and_then(|secret| secret.verified(target, token)).ok_or_else(|| {
            Problem::new(Code::BadLink, "the token of this URL is not one that this server made for it")
        })
    }

    /// Signs something else that leaves the server and comes back.
    pub(crate) fn seal(&self, what: &str, content: &[u8]) -> String {
        let newest = self.newest();
        let mac = mac(&newest, what, &[content]).finalize().into_bytes();
        let sealed = [&newest.id.to_be_bytes()[..], content, &mac[..]].concat();
        URL_SAFE_NO_PAD.encode(sealed)
    }

    pub(crate) async fn unseal(&self, engine: &Engine, what: &str, sealed: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (id, rest) = bytes.split_first_chunk::<4>()?;
        self.secret(engine, u32::from_be_bytes(*id)).await?.unsealed(what, rest)
    }
}

impl Secret {
    fn verified(&self, target: Target<'_>, token: &str) -> Option<Link> {
        let mut parts = token.splitn(4, '.').skip(1);
        let generation = parts.next()?.parse().ok()?;
        let mac = URL_SAFE_NO_PAD.decode(parts.next()?).ok()?;
        let recipient = match parts.next() {
            None => None,
            Some(encoded) => Some(String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()?),
        };
        if recipient.as_ref().is_some_and(|name| name.chars().count() > RECIPIENT_CHARS) {
            return None;
        }
        let link = Link { generation, recipient };
        // Compares in constant time.
        resume_mac(self, target, &link).verify_slice(&mac).ok()?;
        Some(link)
    }

    fn unsealed(&self, what: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (content, mac_bytes) = sealed.split_last_chunk::<32>()?;
        mac(self, what, &[content]).verify_slice(mac_bytes).ok()?;
        Some(content.to_vec())
    }
}

async fn stored(engine: &Engine) -> Result<Vec<Secret>, Problem> {
    let bytes = engine.read(|store| store.setting(SETTING)).await?;
    read(bytes.as_deref())
        .map_err(|_| Problem::new(Code::StoreUnavailable, "the store's link secrets cannot be read"))
}

fn read(setting: Option<&[u8]>) -> Result<Vec<Secret>, serde_json::Error> {
    setting.map_or_else(|| Ok(Vec::new()), serde_json::from_slice)
}

fn unreadable() -> abide_store::Error {
    abide_store::Error::Corrupt("the link secrets cannot be read".to_owned())
}

fn resume_mac(secret: &Secret, target: Target<'_>, link: &Link) -> Hmac<Sha256> {
    let generation = link.generation.to_be_bytes();
    let recipient = link.recipient.as_deref().unwrap_or_default().as_bytes();
    match target {
        Target::Waitpoint(id) => {
            mac(secret, "resume waitpoint", &[id.to_string().as_bytes(), &generation, recipient])
        }
        Target::Step(run, step) => {
            mac(secret, "resume step", &[run.to_string().as_bytes(), step.as_bytes(), &generation, recipient])
        }
    }
}

/// Every part is preceded by its length, so that no two lists of parts are the same text.
fn mac(secret: &Secret, what: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.secret.as_bytes()).expect("any length is a key");
    for part in std::iter::once(&what.as_bytes()).chain(parts) {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac
}

pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), Problem> {
    getrandom::fill(bytes).map_err(|error| {
        tracing::error!(%error, "the machine gives no randomness");
        Problem::new(Code::Internal, "the machine gives no randomness")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(id: u32) -> Secret {
        Secret { id, secret: format!("secret {id}") }
    }

    fn links(ids: &[u32]) -> Links {
        Links::of(ids.iter().map(|id| secret(*id)).collect())
    }

    fn plain(generation: u32) -> Link {
        Link { generation, recipient: None }
    }

    #[test]
    fn a_link_leads_to_its_own_waitpoint_only() {
        let links = links(&[1]);
        let (mine, other) = (RunId(1).waitpoint(1), RunId(1).waitpoint(2));
        let token = links.token(Target::Waitpoint(mine), &plain(0));
        assert_eq!(secret(1).verified(Target::Waitpoint(mine), &token), Some(plain(0)));
        assert_eq!(secret(1).verified(Target::Waitpoint(other), &token), None);
        assert_eq!(secret(1).verified(Target::Step(RunId(1), "step"), &token), None);
        for forged in ["", "1", "1.0", "1.0.AAAA", "9.0.AAAA", "....", &token.replacen(".0.", ".1.", 1)] {
            assert_eq!(secret(1).verified(Target::Waitpoint(mine), forged), None, "{forged}");
        }
    }

    #[test]
    fn the_newest_secret_signs() {
        let target = Target::Step(RunId(7), "sign");
        let token = links(&[1, 2]).token(target, &plain(3));
        assert_eq!(secret(2).verified(target, &token), Some(plain(3)));
        assert_eq!(secret(1).verified(target, &token), None);
    }

    #[test]
    fn a_link_for_one_person_says_who_and_cannot_be_changed() {
        let (links, target) = (links(&[1]), Target::Waitpoint(RunId(1).waitpoint(1)));
        let for_ann = Link { generation: 0, recipient: Some("ann".to_owned()) };
        let token = links.token(target, &for_ann);
        assert_eq!(secret(1).verified(target, &token), Some(for_ann));
        let (rest, _) = token.rsplit_once('.').unwrap();
        assert_eq!(secret(1).verified(target, rest), None);
        let for_bob = format!("{rest}.{}", URL_SAFE_NO_PAD.encode("bob"));
        assert_eq!(secret(1).verified(target, &for_bob), None);
    }

    #[test]
    fn what_is_sealed_for_one_purpose_does_not_open_for_another() {
        let sealed = URL_SAFE_NO_PAD.decode(links(&[1, 2]).seal("lease", b"task 7")).unwrap();
        let (id, sealed) = sealed.split_at(4);
        assert_eq!(id, 2_u32.to_be_bytes());
        assert_eq!(secret(2).unsealed("lease", sealed).as_deref(), Some(&b"task 7"[..]));
        assert_eq!(secret(2).unsealed("cursor", sealed), None);
        assert_eq!(secret(1).unsealed("lease", sealed), None);
        assert_eq!(secret(2).unsealed("lease", b"AAAA"), None);
    }
}
