"""The gateway ends at once because of a wrong setting; jobs that are in go on meanwhile."""

SEE = "clients get 502 or nothing from the gateway"
SHORT = True


def drill(site):
    site.worker()
    gateway = site.gateway(settings={"MINILAB_GATEWAY_RATE": "fast"}, ready=False)
    gateway.wait_for_end()
    port = site.address.rpartition(":")[2]
    assert site.get(f"{site.address}/healthz")[0] == 0, "the gateway answers"
    [job] = site.send_photos(1)
    site.wait_for_counter("completed", 1)

    site.run("systemctl status minilab-gateway")
    site.see("journalctl -u minilab-gateway -n 20", "rate")
    site.does("Repair `/etc/minilab/minilab-gateway.env`", "MINILAB_GATEWAY_RATE=200")
    gateway.settings["MINILAB_GATEWAY_RATE"] = "200"
    site.run("systemctl restart minilab-gateway")
    site.until("the gateway is ready", lambda: site.get(f"{site.address}/readyz")[0] == 200)
    site.run("curl -sS http://127.0.0.1:8080/healthz", **{"8080": port})
    site.is_well(completed=1)
