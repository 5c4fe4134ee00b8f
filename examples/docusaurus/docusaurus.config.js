// Copy web/passage-chat.js into static/, and plugins/ into your site; the rest is Docusaurus as it comes.
export default {
  title: 'Kettle',
  url: 'https://kettle.example',
  baseUrl: '/',
  onBrokenLinks: 'throw',
  future: { v4: true, faster: true },
  plugins: [['./plugins/passage.js', { endpoint: 'https://passage.example' }]],
  presets: [['classic', { docs: { routeBasePath: '/' }, blog: false }]],
};
