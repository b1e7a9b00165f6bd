"""Names, the same in both languages, to be copied."""

MEN = """
paul pierre jacques louis henri michel andré rené marcel roger georges robert alain denis thomas nicolas antoine hugo lucas
théo julien mathieu vincent olivier laurent bruno serge gilles arthur victor oscar simon david samuel gabriel raphaël
adrien benjamin étienne emmanuel félix guillaume ivan karim léon martin maxime omar patrick quentin romain sébastien tristan
ulysse walter xavier youssef
"""

WOMEN = """
marie jeanne anne sophie claire julie emma léa chloé sarah laura lucie camille alice louise juliette inès manon charlotte
pauline isabelle nathalie sylvie monique brigitte françoise hélène céline sandrine valérie véronique agnès béatrice caroline
diane élise fatima gisèle irène joséphine karine léna margot nadia odile pénélope rachel simone thérèse ursule viviane yasmine
zoé amandine clara
"""

SURNAMES = """
dubois durand leroy moreau lefebvre roux fournier girard bonnet dupont lambert fontaine rousseau faure mercier blanchard garnier
chevalier legrand gauthier perrin robin clément morin nicolas henry roussel mathieu masson marchand duval dumont marie lemaire
noël meyer dufour meunier brun blanc giraud joly rivière lucas brunet gaillard arnaud renard picard roche colin vidal caron aubert
benoît fabre leclerc moulin pons verdier tessier besson carlier delmas guillot hamel jacquet klein lacroix maillard navarro
"""
