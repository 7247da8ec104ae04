# SPDX-License-Identifier: MIT
"""Figures in the output of the cells that draw them: a backend for matplotlib, as notebooks have one.

What it must know: matplotlib from 3.1 on. What it must not know: frames, and who shows pictures how.

It is never imported: the runner runs it in its own dictionary when matplotlib has been imported by a cell that may show
displays. The names that it does not define are the runner's. The backend is the module hermes_inline, which is on no
path: it is put into sys.modules. plt.show() shows the figures that are open, and so does the end of each cell; both
close them, because they belong to the cell that made them. Figures of another backend that somebody chose are let be.
"""
BACKEND = 'module://hermes_inline'
OTHER_INLINE = 'module://matplotlib_inline.backend_inline', 'module://ipykernel.pylab.backend_inline'
AS_INLINE = '', 'inline', 'auto', 'notebook', 'nbagg', 'widget', 'ipympl'
TOOLKITS = {'tk': 'TkAgg', 'gtk': 'GTK3Agg', 'gtk3': 'GTK3Agg', 'gtk4': 'GTK4Agg', 'wx': 'WXAgg', 'qt': 'QtAgg',
            'qt4': 'Qt4Agg', 'qt5': 'Qt5Agg', 'qt6': 'QtAgg', 'osx': 'MacOSX'}
manager_kind = None         # of the figures that are ours


def set_up_figures(matplotlib):
    """Called when the module has been imported, or found; once for each."""
    global figures_of
    parameters = vars(matplotlib).get('rcParams')
    if parameters is None:      # in the middle of its import
        return
    modules['hermes_inline'] = make_backend(matplotlib)
    if not is_chosen(matplotlib, parameters):
        parameters['backend'] = BACKEND
    figures_of = matplotlib


def is_chosen(matplotlib, parameters):
    """Whether somebody has said what the backend is to be: the user, and not the system's configuration file (Debian's
    names a backend that needs a screen), nor a notebook server that this process runs below."""
    named = first_modules['os'].environ.get('MPLBACKEND')
    if named and named not in OTHER_INLINE:
        return True
    if getattr(modules.get('matplotlib.pyplot'), '_backend_mod', None) is not None:
        return True             # in use
    now = dict.__getitem__(parameters, 'backend')
    if named and now == named or type(now) is not str:     # no name: matplotlib looks for one that works
        return False
    if now != dict.get(vars(matplotlib).get('rcParamsOrig', {}), 'backend', now):
        return True
    path = matplotlib.matplotlib_fname()
    return not path.startswith(('/etc/', '/usr/', matplotlib.get_data_path()))


def make_backend(matplotlib):
    module = ModuleType('hermes_inline', 'Shows figures in the output of the cells that draw them.')
    module.show = module.flush = show_figures
    module.choose = choose_backend
    if getattr(matplotlib, '__version_info__', (0,)) < (3, 6):
        fill_backend(module)    # it is going to copy the dictionary
    else:
        def fill(name):
            if name != 'FigureCanvas' and name != 'FigureManager':
                raise AttributeError("module 'hermes_inline' has no attribute %r" % name)
            vars(module).pop('__getattr__', None)
            fill_backend(module)
            return getattr(module, name)
        module.__getattr__ = fill
    return module


def fill_backend(module):
    """What takes time: matplotlib's own modules."""
    global manager_kind
    from matplotlib.backend_bases import FigureManagerBase
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    class FigureManager(FigureManagerBase):
        def show(self):
            show_managers([self])

    class FigureCanvas(FigureCanvasAgg):
        manager_class = FigureManager

    for kind in FigureManager, FigureCanvas:
        kind.__module__, kind.__qualname__ = module.__name__, kind.__name__
        setattr(module, kind.__name__, kind)
    manager_kind = FigureManager


def show_figures(*ignored, **more):
    """Those that are open and ours."""
    helpers = modules.get('matplotlib._pylab_helpers')
    if helpers is not None and manager_kind is not None and not forked:
        show_managers([manager for manager in helpers.Gcf.get_all_fig_managers()
                       if isinstance_safe(manager, manager_kind)])


def show_managers(managers):
    """An interrupt leaves none of them for the next cell, and one that can't be drawn keeps none back."""
    trouble = None
    for manager in managers:
        modules['matplotlib._pylab_helpers'].Gcf.destroy(manager.num)
    for manager in managers:
        figure = manager.canvas.figure
        try:
            if figure.get_children()[1:]:       # more than its background
                show({'text/plain': repr(figure), 'image/png': picture(figure)}, 0, True)
        except Exception as error:
            trouble = trouble or error
    if trouble is not None:
        raise trouble


def picture(figure):
    """As large as it is on a screen, whatever is set for files, without empty borders."""
    data = _io.BytesIO()
    figure.savefig(data, format='png', dpi=figure.dpi, bbox_inches='tight', facecolor=figure.get_facecolor(),
                   edgecolor=figure.get_edgecolor())
    return data.getvalue()


def add_figure(value, bundle):
    """To the forms of a value: of one that is a figure."""
    kind = getattr(modules.get('matplotlib.figure'), 'Figure', None)
    if isinstance_safe(kind, type) and isinstance_safe(value, kind) and value.get_children()[1:]:
        bundle['image/png'] = picture(value)


def choose_backend(words):
    """%matplotlib: the words are what stands behind it. A window that can't be opened here is no error."""
    name = ([word for word in words.split() if not word.startswith('-')] or [''])[0].strip('\'"')
    if name in AS_INLINE:
        figures_of.use(BACKEND)
        return
    try:
        from matplotlib import pyplot
        pyplot.switch_backend(TOOLKITS.get(name, name))
    except (ImportError, ValueError) as error:
        print('%%matplotlib %s: %s; figures are shown in the output' % (name, error))
        figures_of.use(BACKEND)
