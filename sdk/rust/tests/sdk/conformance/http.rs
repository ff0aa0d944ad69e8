//! The scenario of a call that the engine makes.

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Json, Retry};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{Count, one};

/// Answers 503 once, and then with a rate.
async fn rates(requests: Count) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/rate", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = Vec::new();
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                if stream.read_buf(&mut request).await.unwrap() == 0 {
                    break;
                }
            }
            let (status, body) = match requests.up() {
                1 => ("503 Service Unavailable", json!({})),
                _ => ("200 OK", json!({"rate": 3})),
            };
            let (body, kind) = (body.to_string(), "content-type: application/json");
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status}\r\n{kind}\r\nconnection: close\r\ncontent-length: {length}");
            stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
        }
    });
    url
}

pub(super) async fn the_engine_makes_the_call(_: &TestServer) -> Result<Json, Error> {
    let server = crate::server().args(["--allow-address", "127.0.0.0/8"]).start().await?;
    let requests = Count::default();
    let url = rates(requests.clone()).await;
    let work = move |ctx: Context, _: Json| {
        let url = url.clone();
        async move {
            let rate = ctx.http::<Json>("rate", url).retry(Retry::attempts(3)).await?;
            Ok(json!({"status": rate.status, "body": rate.body}))
        }
    };
    one(&server, work).await?;
    let run = server.client.start("one", Json::Null).await?;
    server.skip_waits(&run).await?;
    let mut output = run.result().await?;
    output["requests"] = json!(requests.get());
    output["run"] = json!(run.get().await?.status);
    Ok(output)
}
