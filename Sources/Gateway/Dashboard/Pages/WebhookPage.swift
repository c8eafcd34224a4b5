/// The page of one endpoint and its deliveries.
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

/// The delivery of one event to an endpoint.
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

    /// - Parameters:
    ///   - state: one of `delivered`, `waiting`, `failed`.
    ///   - answer: the endpoint's response as text: `503`, `timed out`.
    ///   - next: the time of the next attempt.
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
