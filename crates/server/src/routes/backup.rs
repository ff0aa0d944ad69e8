//! A copy of the whole store, over HTTP. It is made in a file of the server's temporary directory first, so that a slow
//! caller holds up nobody.

use std::fs::File;
use std::io::{self, Read as _};

use abide_engine::stored::Scope;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tempfile::TempDir;

use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::{Access, is_meant};
use crate::problem::{Code, Problem};

const SQLITE: &str = "application/vnd.sqlite3";
const CHUNK_BYTES: usize = 256 * 1024;

pub(super) fn routes() -> Group {
    Group::new("backup", "Copies of everything.").add(
        Endpoint::new(Verb::Get, "/backup", Access::Key(&[Scope::Admin]), "Copy the whole store")
            .about(
                "As of one instant between two commits, while the server goes on. What comes is a store like any other, \
                 of all workspaces: only a key of the default one may ask. One copy is made at a time.",
            )
            .plain(StatusCode::OK, &[SQLITE], "The store as a file."),
        backup,
    )
}

/// A copy, and the directory that goes when it has been sent.
struct Copy {
    file: File,
    _directory: TempDir,
}

async fn backup(State(app): State<Shared>, caller: Caller, headers: HeaderMap) -> Result<Response, Problem> {
    caller.need_default_workspace()?;
    if caller.key.is_none() && !is_meant(&headers) {
        let detail =
            "a page of another site may not make a browser copy the store; use `abide backup`, or give a key";
        return Err(Problem::new(Code::OriginRefused, detail));
    }
    let _turn = app.backups.lock().await;
    let directory = tempfile::tempdir().map_err(|error| not_written(&error))?;
    let path = directory.path().join("abide.db");
    let copied = path.clone();
    app.engine.admin().backup(copied).await?;
    let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (length, file) = opened.map_err(|error| not_written(&error))?;
    let chunks = stream::try_unfold(Copy { file, _directory: directory }, next_chunk);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(SQLITE)),
        (header::CONTENT_LENGTH, HeaderValue::from(length)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"abide.db\"")),
    ];
    Ok((headers, Body::from_stream(chunks)).into_response())
}

async fn next_chunk(mut copy: Copy) -> io::Result<Option<(Bytes, Copy)>> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        let read = copy.file.read(&mut chunk)?;
        chunk.truncate(read);
        Ok((read > 0).then(|| (Bytes::from(chunk), copy)))
    });
    reading.await.map_err(io::Error::other)?
}

fn not_written(error: &io::Error) -> Problem {
    tracing::error!(%error, "a backup could not be written");
    Problem::new(Code::StoreUnavailable, "the copy could not be written to the server's temporary directory")
}
