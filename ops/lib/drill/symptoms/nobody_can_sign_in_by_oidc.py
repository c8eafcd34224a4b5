"""The identity provider does not answer: the page says so, keys go on, and sign-in works when the provider is back."""

import http.server
import json
import threading
import urllib.error
import urllib.request

from servers import free_port

SEE = "people cannot sign in to the dashboard with their provider"


def drill(site):
    code, said = site.minilab("key", "create", "--json", "--operator", "--label", "Ana", "--scope", "read,operate")
    assert code == 0, said
    key = json.loads(said)
    secret = f"{site.folder}/oidc-secret"
    with open(secret, "w") as file:
        file.write("s3cret\n")
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    site.gateway(flags=[
        "--oidc-issuer", issuer, "--oidc-client-id", "minilab",
        "--oidc-client-secret-file", secret, "--oidc-name", "Example", "--oidc-role", f"photo-ops={key['secret'].split('_')[1]}"])

    status, text = sign_in(site)
    assert status >= 500 and "providerUnavailable" in text, (status, text)
    print(f"  /signin/oidc answers with {status}, providerUnavailable")
    site.does("the gateway's log says the same", "journalctl -u minilab-gateway")
    site.units["minilab-gateway"].wait_for("providerUnavailable")
    site.run("curl -sS ISSUER/.well-known/openid-configuration", fails=7, ISSUER=issuer)
    request = urllib.request.Request(f"{site.address}/v1/queue", headers={"Authorization": f"Bearer {key['secret']}"})
    site.does("Keys go on opening the dashboard", "a request with a key")
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 200

    provider = Provider(issuer, port)
    site.ends.append(provider.end)
    site.see("curl -sS ISSUER/.well-known/openid-configuration", f'"issuer": "{issuer}"', ISSUER=issuer)
    site.until("the gateway sends browsers to the provider", lambda: sign_in(site)[0] == 303)
    print("  ✓ the gateway sends browsers to the provider again")


def sign_in(site):
    """The gateway's answer to somebody who presses the button."""
    request = urllib.request.Request(f"{site.address}/signin/oidc", headers={"Accept": "text/html"})
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Provider:
    """As much of a provider as the way to its page needs: its settings. ops/browser signs in at a whole one."""

    def __init__(self, issuer, port):
        settings = json.dumps({
            "issuer": issuer, "authorization_endpoint": f"{issuer}/authorize", "token_endpoint": f"{issuer}/token",
            "jwks_uri": f"{issuer}/keys", "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(settings)))
                self.end_headers()
                self.wfile.write(settings)

            def log_message(self, *_):
                pass  # the drill's own output is enough

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
