import ArgumentParser
import Gateway
import MinilabCommands

/// The flags that configure a gateway. Each is a setting.
struct GatewayOptions: ParsableArguments {
    @Option(Settings.library) var library: GivenSetting?
    @Option(Settings.originals) var originals: GivenSetting?
    @Option(Settings.gatewayAddress) var address: GivenSetting?
    @Option(Settings.gatewayPort) var port: GivenSetting?
    @Option(Settings.gatewayOrigin) var origin: GivenSetting?
    @Option(Settings.gatewayStatusPort) var statusPort: GivenSetting?
    @Option(Settings.gatewayStatusAddress) var statusAddress: GivenSetting?
    @Option(Settings.gatewayUploadMax) var uploadMax: GivenSetting?
    @Option(Settings.gatewayBacklog) var backlog: GivenSetting?
    @Option(Settings.gatewayRate) var rate: GivenSetting?
    @Option(Settings.gatewayWebhooksAllow) var webhooksAllow: GivenSetting?
}

extension GatewaySettings {
    /// Reads the settings of a gateway.
    init(_ reader: inout SettingsReader) {
        self.init()
        address = reader.value(Settings.gatewayAddress)
        port = reader.value(Settings.gatewayPort)
        statusAddress = reader.value(Settings.gatewayStatusAddress)
        statusPort = reader.optional(Settings.gatewayStatusPort)
        publicOrigin = reader.optional(Settings.gatewayOrigin)
        providerSignIn = ProviderSignInSettings(&reader, origin: publicOrigin)
        uploadBytesMax = reader.value(Settings.gatewayUploadMax)
        backlogMax = reader.value(Settings.gatewayBacklog)
        requestsPerSecond = reader.value(Settings.gatewayRate)
        webhooksAllowed = reader.value(Settings.gatewayWebhooksAllow)
    }
}
