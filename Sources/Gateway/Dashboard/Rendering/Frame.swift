/// The parts that all pages share.
package struct Frame: View {
    /// The person who is signed in; nil on the sign-in page, and on errors before sign-in.
    let viewer: Viewer?
    /// The value of the hidden field `csrf` of each form.
    let csrf: String
    /// The version of minilab.
    let version: String
    /// The queue's name.
    let queue: String?
    /// The result of the last form.
    let notice: Notice?

    package init(
        viewer: Viewer?, csrf: String, version: String, queue: String? = nil,
        notice: Notice? = nil
    ) {
        self.viewer = viewer
        self.csrf = csrf
        self.version = version
        self.queue = queue
        self.notice = notice
    }
}

/// The person who is signed in.
package struct Viewer: View {
    /// The name for people: the key's label, or its id.
    let name: String
    /// The tenant whose jobs the person sees; nil for all tenants.
    let tenant: String?
    /// The granted scopes: `enqueue`, `read`, `operate`, `admin`. Pages offer no operation without its scope.
    let scopes: Set<String>

    package init(name: String, tenant: String?, scopes: Set<String>) {
        self.name = name
        self.tenant = tenant
        self.scopes = scopes
    }

    func maySee(_ section: Section) -> Bool {
        scopes.contains(section.scope) && (tenant == nil || section.isForTenants)
    }
}

/// A sentence about the result of a form, shown once.
package struct Notice: View {
    /// The importance of the notice: success, attention needed, or failure.
    package enum Tone: String, Sendable { case done, attention, trouble }

    let tone: String
    let icon: String
    let text: String

    package init(_ tone: Tone, _ text: String) {
        self.tone = tone.rawValue
        icon = tone == .done ? "✓" : tone == .attention ? "▲" : "✕"
        self.text = text
    }
}

/// The sections in the navigation.
package enum Section: String, Sendable, CaseIterable {
    case now, batches, dead, limits, doctor, keys, webhooks, audit

    /// The scope that a key needs to see the section.
    var scope: String {
        switch self {
        case .now, .dead, .limits: "operate"
        case .batches: "read"
        case .webhooks: "enqueue"
        case .doctor, .keys, .audit: "admin"
        }
    }

    /// Whether the section can be restricted to one tenant; the others show the queue as a whole.
    var isForTenants: Bool { [.batches, .dead, .webhooks].contains(self) }

    var href: String {
        switch self {
        case .now: Links.now
        case .batches: Links.batches
        case .dead: Links.dead
        case .limits: Links.limits
        case .doctor: Links.doctor
        case .keys: Links.keys
        case .webhooks: Links.webhooks
        case .audit: Links.audit
        }
    }

    /// The key that opens the section after `g`.
    var letter: String {
        switch self {
        case .now: "n"
        case .batches: "b"
        case .dead: "d"
        case .limits: "l"
        case .doctor: "o"
        case .keys: "k"
        case .webhooks: "w"
        case .audit: "a"
        }
    }

    struct Link: View {
        let text: String
        let href: String
        let letter: String
        let isCurrent: Bool

        init(_ section: Section, isCurrent: Bool) {
            text = section.rawValue.prefix(1).uppercased() + section.rawValue.dropFirst()
            href = section.href
            letter = section.letter
            self.isCurrent = isCurrent
        }
    }
}
