import Hummingbird
import Logging
import NIOCore

/// The values that Hummingbird carries with a request.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
