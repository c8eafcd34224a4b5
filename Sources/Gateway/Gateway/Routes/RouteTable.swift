import Edits
import HTTPTypes
import Hummingbird
import NIOCore

package enum RouteTable {
    package static let routes: [Route] = described + [document(of: described)] + pages

    static let described: [Route] =
        Health.routes + JobRoutes.routes + BatchRoutes.routes + EventRoutes.routes
        + AssetRoutes.routes + OperatingRoutes.routes + ScaleRoute.routes + DeadRoutes.routes
        + DraftTrial.routes
        + ReplayRoutes.routes
        + KeyRoutes.routes + WebhookRoutes.routes

    private static let pages: [Route] =
        SignInRoutes.routes + ProviderRoutes.routes + NowRoutes.routes + JobPages.routes
        + BatchPages.routes
        + DeadPages.routes + AssetPages.routes + OperatingPages.routes + KeyPages.routes
        + WebhookPages.routes + UIRoutes.routes

    private static func document(of routes: [Route]) -> Route {
        // Anyone may request it, so it is generated once, and only its bytes are kept.
        let text = ByteBuffer(string: OpenAPI.document(routes, schemas: Schemas.all).canonical)
        return Route(
            .get, "/openapi.json", .open, name: "openapi", group: "gateway",
            "The OpenAPI 3.1 document of this gateway.",
            answers: [.init(.ok, "The document.")]
        ) { _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/json", .cacheControl: "max-age=300"],
                body: ResponseBody(byteBuffer: text))
        }
    }
}
