//! A server behind https, with a certificate of an authority that only its users know.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;

use super::host::Host;

struct Certified {
    authority_pem: String,
    config: ServerConfig,
}

/// A server's certificate for this machine, and the authority that signed it.
fn certified() -> Certified {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority_pem = authority.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(authority, key);
    let key = KeyPair::generate().unwrap();
    let names = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = names.signed_by(&key, &issuer).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    Certified { authority_pem, config }
}

/// Takes TLS off and passes everything on, as a proxy in front of a server does.
fn proxy(config: ServerConfig, to: SocketAddr) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (listener, acceptor) =
                (TcpListener::from_std(listener).unwrap(), TlsAcceptor::from(Arc::new(config)));
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // Whoever does not trust it hangs up.
                    let Ok(mut inside) = acceptor.accept(stream).await else { return };
                    let mut outside = TcpStream::connect(to).await.unwrap();
                    drop(tokio::io::copy_bidirectional(&mut inside, &mut outside).await);
                });
            }
        });
    });
    address
}

#[test]
fn commands_reach_a_server_whose_certificate_is_trusted_and_no_other() {
    let host = Host::start();
    let run = host.started("name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n");
    let Certified { authority_pem, config } = certified();
    let address = proxy(config, host.url.strip_prefix("http://").unwrap().parse().unwrap());
    let server = format!("https://{address}");
    host.file("authority.pem", &authority_pem);

    let shown = host.ok(&["show", &run, "--server", &server, "--ca", "authority.pem"]);
    assert!(shown.contains("WAITING"), "{shown}");
    let said = host.abide(&["show", &run, "--server", &server]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.err.contains("certificate"), "{said:?}");

    host.file("letter.txt", "Dear Sir or Madam");
    for (file, why) in [("letter.txt", "no certificate"), ("nowhere.pem", "No such file")] {
        let said = host.abide(&["show", &run, "--server", &server, "--ca", file]);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains(&format!("--ca: {file}")) && said.err.contains(why), "{said:?}");
    }
}
