/// The frame around each page, with the names that the layout uses.
struct Shell<Content: Page>: View {
    let title: String
    let page: Content
    /// The name of the template that renders the page's content.
    let template: String
    let csrf: String
    let version: String
    let queue: String?
    let viewer: Viewer?
    let notice: Notice?
    let links: [Section.Link]
    let live: String?
    let onward: String?
    let style: String
    let icon: String
    let scripts: [String]
    let findAction: String
    let signOutAction: String
    let canEnqueue: Bool
    let canOperate: Bool
    let canAdmin: Bool

    init(_ page: Content, template: String) {
        let frame = page.frame
        title = page.title
        self.page = page
        self.template = template
        csrf = frame.csrf
        version = frame.version
        queue = frame.queue
        viewer = frame.viewer
        notice = frame.notice
        links =
            frame.viewer.map { viewer in
                Section.allCases.filter(viewer.maySee)
                    .map { Section.Link($0, isCurrent: $0 == Content.section) }
            } ?? []
        live = page.live
        onward = page.onward
        style = StaticFile.style.path
        icon = StaticFile.icon.path
        scripts =
            (StaticFile.everywhere + Content.modules
            + (page.live == nil ? [] : [StaticFile.liveName]))
            .compactMap { StaticFile.named($0)?.path }
        findAction = Links.find
        signOutAction = Links.signOut
        canEnqueue = frame.viewer?.scopes.contains("enqueue") ?? false
        canOperate = frame.viewer?.scopes.contains("operate") ?? false
        canAdmin = frame.viewer?.scopes.contains("admin") ?? false
    }
}
