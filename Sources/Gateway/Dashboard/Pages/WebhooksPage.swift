package struct WebhooksPage: Page {
    package let frame: Frame
    package let title = "Webhooks"
    let endpoints: [EndpointRow]
    /// The number of endpoints that the page does not show: `, and 980 more`.
    let moreEndpoints: String?
    let isEmpty: Bool
    let created: Secret?
    let form: EndpointForm
    let action: String

    package static let section: Section? = .webhooks
    package static let template = "webhooks"

    /// - Parameter created: the secret of an endpoint that was just created or got a new secret; it is shown only now.
    package init(
        _ frame: Frame, endpoints: [EndpointRow], moreEndpoints: Int = 0, created: Secret? = nil,
        form: EndpointForm
    ) {
        self.frame = frame
        self.endpoints = endpoints
        self.moreEndpoints = moreEndpoints > 0 ? grouped(moreEndpoints) : nil
        isEmpty = endpoints.isEmpty
        self.created = created
        self.form = form
        action = Links.webhooks
    }
}

package struct EndpointRow: View {
    let id: String
    let href: String
    let url: String
    let types: String
    let tenant: String?
    let state: StateMark
    /// The reason for which it is disabled.
    let reason: String?
    let isEnabled: Bool
    /// Its lag behind the newest event, as text.
    let lag: String?
    let parked: String
    let testAction: String
    let enableAction: String
    let disableAction: String
    let rotateAction: String
    let deleteAction: String

    package init(
        id: String, url: String, types: [String], tenant: String? = nil, reason: String?,
        lag: String?, parked: Int
    ) {
        self.id = id
        href = Links.webhook(id)
        self.url = url
        self.types = types.joined(separator: ", ")
        self.tenant = tenant
        isEnabled = reason == nil
        self.reason = reason
        state =
            reason != nil
            ? StateMark("disabled", "■", "attention")
            : parked > 0
                ? StateMark("retrying", "◔", "attention") : StateMark("enabled", "✓", "good")
        self.lag = lag
        self.parked = grouped(parked)
        testAction = Links.webhook(id, "test")
        enableAction = Links.webhook(id, "enable")
        disableAction = Links.webhook(id, "disable")
        rotateAction = Links.webhook(id, "rotate")
        deleteAction = Links.webhook(id, "delete")
    }
}

package struct EndpointForm: View {
    let url: String?
    let error: String?
    let types: [Choice]

    struct Choice: View {
        let name: String
        let isChosen: Bool
    }

    /// - Parameter types: all event types to choose from.
    package init(types: [String], chosen: Set<String>, url: String? = nil, error: String? = nil) {
        self.types = types.map { Choice(name: $0, isChosen: chosen.contains($0)) }
        self.url = url
        self.error = error
    }
}

package struct WebhookPage: Page {
    package let frame: Frame
    package let title: String
    let endpoint: EndpointRow
    let created: Secret?
    let deliveries: [DeliveryRow]
    let isEmpty: Bool
    let nextHref: String?

    package static let section: Section? = .webhooks
    package static let template = "webhook"

    /// - Parameter next: the cursor after the last delivery.
    package init(
        _ frame: Frame, endpoint: EndpointRow, deliveries: [DeliveryRow], created: Secret? = nil,
        next: String?
    ) {
        self.frame = frame
        title = "Webhook \(endpoint.url)"
        self.endpoint = endpoint
        self.created = created
        self.deliveries = deliveries
        isEmpty = deliveries.isEmpty
        nextHref = next.map { Links.query(endpoint.href, [("after", $0)]) }
    }
}

package struct DeliveryRow: View {
    let id: String
    let at: Moment
    let type: String
    let subject: String?
    let state: StateMark
    let tries: Int
    let answer: String?
    let next: Moment?
    let replayAction: String

    package init(
        endpoint: String, id: String, at: Moment, type: String, subject: String?, state: String,
        tries: Int, answer: String?, next: Moment?
    ) {
        self.id = id
        self.at = at
        self.type = type
        self.subject = subject
        self.state =
            switch state {
            case "delivered": StateMark(state, "✓", "good")
            case "waiting": StateMark(state, "◔", "attention")
            default: StateMark(state, "✕", "trouble")
            }
        self.tries = tries
        self.answer = answer
        self.next = next
        replayAction = Links.redeliver(endpoint, delivery: id)
    }
}
