import Edits

package struct FindPage: Page {
    package let frame: Frame
    package let title: String
    /// The search text; nil if there is none.
    let query: String?
    let groups: [FindGroup]
    let isEmpty: Bool

    package static let template = "find"

    package init(_ frame: Frame, query: String?, groups: [FindGroup]) {
        self.frame = frame
        self.query = query
        self.groups = groups.filter { !$0.hits.isEmpty }
        isEmpty = query != nil && self.groups.isEmpty
        title = query.map { "Find \($0)" } ?? "Find"
    }
}

package struct FindGroup: View {
    let name: String
    let hits: [Hit]
    /// Whether there are more results than the page shows.
    let hasMore: Bool

    /// - Parameter name: `Jobs`, `Batches`, `Assets`, `Tenants`, `Dead by code`.
    package init(_ name: String, _ hits: [Hit], hasMore: Bool = false) {
        self.name = name
        self.hits = hits
        self.hasMore = hasMore
    }
}

package struct Hit: View {
    let text: String
    let href: String
    let state: StateMark?
    let note: String?

    private init(_ text: String, _ href: String, _ state: StateMark?, _ note: String?) {
        self.text = text
        self.href = href
        self.state = state
        self.note = note
    }

    /// - Parameter state: a state in the words of ``StateMark``.
    package static func job(_ id: String, state: String, note: String? = nil) -> Hit {
        Hit(id, Links.job(id), StateMark(job: state), note)
    }
    package static func batch(_ id: String, note: String? = nil) -> Hit {
        Hit(id, Links.batch(id), nil, note)
    }
    package static func asset(_ path: String, note: String? = nil) -> Hit {
        Hit(path.printable, Links.asset(path), nil, note)
    }
    /// Returns the result for the dead jobs of a tenant, a code or an edit.
    package static func dead(_ text: String, _ selection: DeadSelection, note: String? = nil) -> Hit
    {
        Hit(text, selection.listed(), nil, note)
    }
}

package struct ProblemPage: Page {
    package let frame: Frame
    package let title: String
    let status: Int
    let detail: String
    let advice: String?
    let code: String?
    let homeHref: String

    package static let template = "problem"

    package init(
        _ frame: Frame, status: Int, title: String, detail: String, advice: String? = nil,
        code: String? = nil
    ) {
        self.frame = frame
        self.title = title
        self.status = status
        self.detail = detail
        self.advice = advice
        self.code = code
        homeHref = Links.now
    }
}
