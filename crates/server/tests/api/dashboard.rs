use abide_server::Settings;
use hyper::Method;

use crate::host::Host;

#[tokio::test]
async fn the_dashboard_or_how_to_get_it_is_at_the_root_and_at_its_pages() {
    let host = Host::start().await;
    for path in ["/", "/waits", "/runs/run_00000000000000000000000000", "/definitions/a%20b"] {
        let page = host.raw(Method::GET, path, &[], "".into()).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.header("content-type").unwrap().starts_with("text/html"), "{path}");
        let policy = page.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe-eval"), "{policy}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert!(page.text.contains("<title>abide</title>"), "{}", page.text);
    }
}

#[tokio::test]
async fn what_is_no_page_of_the_dashboard_is_refused_as_before() {
    let host = Host::start().await;
    for path in ["/nowhere", "/assets/none.js", "/api/v1/none", "/index.html.gz"] {
        host.raw(Method::GET, path, &[], "".into()).await.is_problem(404, "NOT_FOUND");
    }
    host.raw(Method::POST, "/waits", &[], "".into()).await.is_problem(404, "NOT_FOUND");
}

#[tokio::test]
async fn behind_a_base_path_the_page_looks_for_its_files_there() {
    let public_url = Some("http://localhost:1/abide".to_owned());
    let host = Host::with(Settings { public_url, ..Settings::default() }).await;
    let page = host.raw(Method::GET, "/waits", &[], "".into()).await;
    let is_built = abide_web::asset(abide_web::INDEX).is_some();
    assert_eq!(page.text.contains("<base href=\"/abide/\" />"), is_built, "{}", page.text);
}

#[tokio::test]
async fn files_whose_names_hold_a_digest_are_kept_for_ever_and_come_compressed() {
    let host = Host::start().await;
    let page = host.raw(Method::GET, "/", &[], "".into()).await.text;
    let Some((_, rest)) = page.split_once("src=\"./") else { return };
    let path = format!("/{}", rest.split('"').next().unwrap());
    let script = host.raw(Method::GET, &path, &[("accept-encoding", "br, gzip")], "".into()).await;
    assert_eq!((script.status, script.header("content-encoding")), (200, Some("gzip")));
    assert!(script.header("cache-control").unwrap().contains("immutable"));
    let plain = host.raw(Method::GET, &path, &[], "".into()).await;
    assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
    assert!(plain.header("content-type").unwrap().starts_with("text/javascript"));
}
