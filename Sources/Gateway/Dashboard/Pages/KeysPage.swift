package struct KeysPage: Page {
    package let frame: Frame
    package let title = "Keys"
    let keys: [KeyRow]
    let isEmpty: Bool
    let created: Secret?
    let form: KeyForm
    let action: String

    package static let section: Section? = .keys
    package static let template = "keys"

    package init(_ frame: Frame, keys: [KeyRow], created: Secret? = nil, form: KeyForm = KeyForm())
    {
        self.frame = frame
        self.keys = keys
        isEmpty = keys.isEmpty
        self.created = created
        self.form = form
        action = Links.keys
    }
}

package struct Secret: View {
    let name: String
    let secret: String

    package init(name: String, secret: String) {
        self.name = name
        self.secret = secret
    }
}

package struct KeyRow: View {
    let id: String
    let label: String?
    let tenant: String
    let prefix: String
    let scopes: String
    let state: StateMark
    let created: Moment
    let expires: Moment?
    let used: Moment?
    let isActive: Bool
    let revokeAction: String

    package init(
        id: String, label: String, tenant: String?, prefix: String, scopes: [String],
        state: String, created: Moment, expires: Moment?, used: Moment? = nil
    ) {
        self.id = id
        self.label = label.isEmpty ? nil : label
        self.tenant = tenant ?? "all tenants"
        self.prefix = prefix.isEmpty ? "everything" : prefix
        self.scopes = scopes.joined(separator: ", ")
        isActive = state == "active"
        self.state =
            isActive
            ? StateMark(state, "✓", "good")
            : StateMark(state, state == "expired" ? "◔" : "✕", "calm")
        self.created = created
        self.expires = expires
        self.used = used
        revokeAction = Links.revokeKey(id)
    }
}

package struct KeyForm: View {
    let label: String?
    let tenant: String?
    let prefix: String?
    let days: String?
    let error: String?
    let scopes: [Choice]

    struct Choice: View {
        let name: String
        let meaning: String
        let isChosen: Bool
    }

    /// - Parameter error: the fault of the last attempt, as a sentence.
    package init(
        label: String? = nil, tenant: String? = nil, prefix: String? = nil, days: String? = nil,
        scopes: Set<String> = ["enqueue", "read"], error: String? = nil
    ) {
        self.label = label
        self.tenant = tenant
        self.prefix = prefix
        self.days = days
        self.error = error
        self.scopes = [
            ("enqueue", "send and cancel jobs, upload originals, own webhooks"),
            ("read", "see jobs, batches, renders and events"),
            ("operate", "see and steer the queue, replay dead jobs"),
            ("admin", "keys, doctor, audit"),
        ].map { Choice(name: $0.0, meaning: $0.1, isChosen: scopes.contains($0.0)) }
    }
}
