// A Docusaurus plugin: puts the Passage widget on every page. Options are the widget's, without `data-`.
export default function passage(context, options) {
  const attributes = Object.fromEntries(Object.entries(options).map(([name, value]) => [`data-${name}`, value]));
  delete attributes['data-id']; // Docusaurus's own option
  return {
    name: 'passage',
    getClientModules: () => ['./passage-router.js'],
    injectHtmlTags: () => ({
      // In the head and deferred, so it runs once and leaves the page that React takes over as it is.
      headTags: [{ tagName: 'script', attributes: { src: `${context.baseUrl}passage-chat.js`, defer: true, ...attributes } }],
    }),
  };
}
