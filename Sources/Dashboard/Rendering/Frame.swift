/// The parts that all pages share.
package struct Frame: View {
    /// The person who is signed in; nil on the page where one signs in, and on errors before.
    let viewer: Viewer?
    /// The value of the hidden field `csrf` of each form.
    let csrf: String
    /// The version of minilab.
    let version: String
    /// The queue's name.
    let queue: String?
    /// The outcome of the last form.
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
    /// A name for people: the key's label, or its id.
    let name: String
    /// Whose jobs are seen; nil: of all tenants.
    let tenant: String?
    /// `enqueue`, `read`, `operate`, `admin`: what is not allowed is not offered.
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

/// One sentence on what a form did, shown once.
package struct Notice: View {
    /// Whether it went well, or what the person must see.
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

/// The entries of the navigation.
package enum Section: String, Sendable, CaseIterable {
    case now, batches, dead, limits, doctor, keys, webhooks, audit

    /// The scope that a key needs to see it.
    var scope: String {
        switch self {
        case .now, .dead, .limits: "operate"
        case .batches: "read"
        case .webhooks: "enqueue"
        case .doctor, .keys, .audit: "admin"
        }
    }

    /// Whether it shows a tenant its own, and not the queue as a whole.
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

    /// The letter that leads to it after `g`.
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
