import AccessKeys
import Edits
import Dashboard
import HTTPTypes
import Hummingbird
import Operations
import Webhooks

/// The pages of webhooks: they create, test, disable and delete endpoints, renew secrets, and list deliveries.
enum WebhookPages {
    static let routes: [Route] = [
        Route(.get, Links.webhooks, .page(.enqueue), "The endpoints of webhooks.") { call in
            .page(try await list(call))
        },
        Route(.post, Links.webhooks, .page(.enqueue), "Makes an endpoint.", handle: create),
        Route(.get, "/webhooks/{id}", .page(.enqueue), "An endpoint and its deliveries.") { call in
            .page(try await page(of: WebhookActions.find(call), call))
        },
        Route(.post, "/webhooks/{id}/test", .page(.enqueue), "Sends a test.") { call in
            _ = try await call.form()
            return try seeOther(call, try await WebhookActions.test(call), .tested)
        },
        Route(.post, "/webhooks/{id}/enable", .page(.enqueue), "Enables an endpoint again.") {
            call in
            try await set(isActive: true, call)
        },
        Route(.post, "/webhooks/{id}/disable", .page(.enqueue), "Disables an endpoint.") { call in
            try await set(isActive: false, call)
        },
        Route(.post, "/webhooks/{id}/rotate", .page(.enqueue), "Makes a new secret.") { call in
            _ = try await call.form()
            let (endpoint, secret) = try await WebhookActions.rotate(call)
            return .page(
                try await page(
                    of: endpoint, call, secret: Secret(name: endpoint.url, secret: secret.revealed))
            )
        },
        Route(.post, "/webhooks/{id}/delete", .page(.enqueue), "Deletes an endpoint.") { call in
            _ = try await call.form()
            try await WebhookActions.delete(call)
            return Call.seeOther(Links.webhooks, .deleted)
        },
        Route(
            .post, "/webhooks/{id}/deliveries/{message}/replay", .page(.enqueue),
            "Sends a message again."
        ) { call in
            _ = try await call.form()
            return try seeOther(call, try await WebhookActions.redeliver(call), .sentAgain)
        },
    ]

    private static func seeOther(
        _ call: Call, _ delivery: WebhookDelivery, _ accepted: PageNotice
    ) throws -> Response {
        Call.seeOther(
            Links.webhook(try call.parameter("id")), delivery.isAccepted ? accepted : .notAccepted)
    }

    private static func set(isActive: Bool, _ call: Call) async throws -> Response {
        _ = try await call.form()
        let endpoint = try await WebhookActions.update(isActive: isActive, call)
        return Call.seeOther(Links.webhook(endpoint.id), .saved)
    }

    private static func create(_ call: Call) async throws -> Response {
        let form = try await call.form()
        let types = form.all("type")
        do {
            guard !types.isEmpty else {
                throw Problem(.invalidEventTypes, "Choose at least one kind of event.")
            }
            let (endpoint, secret) = try await WebhookActions.create(
                url: form["url"] ?? "", eventTypes: types, call)
            return .page(
                try await list(
                    call, secret: Secret(name: endpoint.url, secret: secret.revealed)))
        } catch {
            let problem = Problem(error)
            guard problem.status.kind == .clientError else { throw error }
            return .page(
                try await list(
                    call,
                    form: EndpointForm(
                        types: typeNames, chosen: Set(types), url: form["url"],
                        error: problem.detail)),
                status: problem.status)
        }
    }

    /// The most endpoints that the page lists; the API has the rest.
    private static let listedMax = WebhookStore.progressMax

    private static func list(
        _ call: Call, secret: Secret? = nil, form: EndpointForm? = nil
    ) async throws -> WebhooksPage {
        // The newest first, so that an endpoint that was just created is visible.
        let all = try await WebhookActions.list(call)
        let endpoints = Array(all.reversed().prefix(listedMax))
        let progress = try await call.parts.webhooks.store.progress(of: endpoints.map(\.id))
        return WebhooksPage(
            call.frame(), endpoints: endpoints.map { row($0, progress[$0.id]) },
            moreEndpoints: all.count - endpoints.count, created: secret,
            form: form
                ?? EndpointForm(
                    types: typeNames, chosen: Set(WebhookEventTypes.usual.map(shortName(of:)))))
    }

    private static func page(
        of endpoint: WebhookEndpoint, _ call: Call, secret: Secret? = nil
    ) async throws -> WebhookPage {
        let store = call.parts.webhooks.store
        let progress = try await store.progress(of: [endpoint.id])[endpoint.id]
        let now = call.now
        var seen: Set<String> = []
        return WebhookPage(
            call.frame(), endpoint: row(endpoint, progress),
            deliveries: try await store.deliveries(endpoint.id).map { delivery in
                // Only the newest attempt of a message states when it is sent again.
                let retryAt = seen.insert(delivery.message).inserted ? delivery.retryAt : nil
                return DeliveryRow(
                    endpoint: endpoint.id, id: delivery.message,
                    at: Moment(delivery.at, now: now), type: shortName(of: delivery.type),
                    subject: delivery.event,
                    state: delivery.isAccepted
                        ? "delivered" : retryAt == nil ? "failed" : "waiting",
                    tries: delivery.attempt,
                    answer: delivery.error ?? delivery.status.map { "\($0)" },
                    next: retryAt.flatMap { $0 > now ? Moment($0, now: now) : nil })
            }, created: secret, next: nil)
    }

    /// An endpoint that lags by this many ms is shown as behind. Its place is not saved at each event, so smaller lags
    /// mean nothing.
    private static let lagMin = 60_000

    private static func row(
        _ endpoint: WebhookEndpoint, _ progress: WebhookProgress?
    ) -> EndpointRow {
        let lag = progress?.lag ?? 0
        return EndpointRow(
            id: endpoint.id, url: endpoint.url,
            types: endpoint.eventTypes.sorted().map(shortName(of:)), tenant: endpoint.owner.tenant,
            reason: reason(endpoint.state), lag: lag < lagMin ? nil : clock(lag / 1000),
            parked: progress?.parked ?? 0)
    }

    private static func reason(_ state: WebhookEndpoint.State) -> String? {
        guard case .disabled(let reason, let since) = state else { return nil }
        let sentence =
            switch reason {
            case .owner: "A user disabled it"
            case .gone: "It answered 410 Gone"
            case .failing: "It accepted nothing for five days"
            case .parked: "Too many messages wait to be sent again"
            }
        return "\(sentence), \(date(since))."
    }

    /// All event types, in their short form for people.
    private static let typeNames = WebhookEventTypes.all.map(shortName(of:)).sorted()

    private static func shortName(of type: String) -> String {
        String(type.trimmingPrefix("org.minilab."))
    }
}
