// Copy web/passage-chat.js into static/, and plugins/passage.js into your site; the rest is Docusaurus as it comes.
export default {
  title: 'Kettle',
  url: 'https://kettle.example',
  baseUrl: '/',
  onBrokenLinks: 'throw',
  plugins: [['./plugins/passage.js', { endpoint: 'https://passage.example' }]],
  presets: [['classic', { docs: { routeBasePath: '/' }, blog: false }]],
};
