import Adjustments
import ArgumentParser
import Gateway
import MinilabCommands
import Webhooks

/// The flags that say how a gateway works. Each is also a setting.
struct GatewayOptions: ParsableArguments {
    @Option(
        help: "The library: a folder (originals, edits, staging), or s3://bucket/prefix?endpoint=…")
    var library: String?

    @Option(help: "The folder or URL of the originals, when it is not LIBRARY/originals.")
    var originals: String?

    @Option(help: "The address that it listens on (default: 127.0.0.1, this machine alone).")
    var address: String?

    @Option(help: "The port (default: 8080).") var port: String?

    @Option(
        help: ArgumentHelp(
            "The origin that browsers use, such as https://photos.example.com, behind a proxy with TLS.",
            valueName: "url"))
    var origin: String?

    @Option(
        help:
            "A port for /metrics, /healthz and /readyz, for who watches the gateway (default: none)."
    )
    var statusPort: String?

    @Option(help: "The address of the status port (default: 127.0.0.1, this machine alone).")
    var statusAddress: String?

    @Option(help: "Most bytes of one original that is sent (default: 4G).") var uploadMax: String?

    @Option(
        help:
            "Jobs of one tenant that have not ended, unless its key says otherwise (default: 100000)."
    )
    var backlog: String?

    @Option(help: "Requests a second of one key, unless it says otherwise (default: 200).")
    var rate: String?

    @Option(
        help: ArgumentHelp(
            "Ranges of your own network that webhooks may go to, such as 10.1.0.0/16,fd00:1::/32 (default: none).",
            valueName: "ranges"))
    var webhooksAllow: String?

    /// The flags that were given, by key of the setting.
    var flags: [String: String?] {
        [
            "library": library, "originals": originals, "gateway.address": address,
            "gateway.status.port": statusPort, "gateway.status.address": statusAddress,
            "gateway.port": port, "gateway.origin": origin, "gateway.upload.max": uploadMax,
            "gateway.backlog": backlog, "gateway.rate": rate,
            "gateway.webhooks.allow": webhooksAllow,
        ]
    }
}

extension GatewaySettings {
    /// Reads the settings of a gateway.
    init(_ reader: inout SettingsReader) {
        self.init()
        address = reader.value(
            .text("gateway.address", "an address of this machine", default: address), or: address)
        port = reader.value(.number("gateway.port", 0...65535, default: "\(port)"), or: port)
        statusAddress = reader.value(
            .text("gateway.status.address", "an address of this machine", default: statusAddress),
            or: statusAddress)
        statusPort = reader.optional(.number("gateway.status.port", 0...65535))
        publicOrigin = reader.optional(
            Setting(
                key: "gateway.origin", expected: "an origin such as https://photos.example.com",
                defaultText: nil,
                parse: { text in
                    text.wholeMatch(of: /https?:\/\/([a-z0-9.\-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?/)
                        == nil ? nil : text
                }))
        providerSignIn = ProviderSignInSettings(&reader, origin: publicOrigin)
        uploadBytesMax = reader.value(
            .bytes("gateway.upload.max", 1 << 20...1 << 40, default: "4G"), or: uploadBytesMax)
        backlogMax = reader.value(
            .number("gateway.backlog", 1...10_000_000, default: "\(backlogMax)"), or: backlogMax)
        requestsPerSecond = reader.value(
            .number("gateway.rate", 1...1_000_000, default: "\(requestsPerSecond)"),
            or: requestsPerSecond)
        webhooksAllowed =
            reader.optional(
                Setting(
                    key: "gateway.webhooks.allow",
                    expected: "ranges of addresses such as 10.1.0.0/16,fd00:1::/32",
                    defaultText: nil,
                    parse: { text in
                        try text.split(separator: ",", omittingEmptySubsequences: false)
                            .map { try AddressRange(String($0)) }
                    })) ?? []
    }
}
